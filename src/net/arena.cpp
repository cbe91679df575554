// SPDX-License-Identifier: BSD-3-Clause
#include "net/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/memory.h"
#include "base/region.h"
#include "base/round.h"
#include "net/authentication.h"

namespace nearcache::net {
namespace {

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool is_sealed(int descriptor) {
  const int has = fcntl(descriptor, F_GET_SEALS);  // -1 if the file cannot be sealed
  return has >= 0 && (has & seals) == seals;
}

std::string failed(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

}  // namespace

std::shared_ptr<Arena> Arena::make(uint64_t size, std::string* wrong) {
  if (!file_may_have(size))
    return *wrong = "files are limited to less (ulimit -f) than the arena's size", nullptr;
  std::shared_ptr<Arena> arena(new Arena);
  arena->descriptor_ = memfd_create("nearcache", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (arena->descriptor_ < 0) return *wrong = failed("memfd_create"), nullptr;
  arena->name_ = {own_file(arena->descriptor_), size, random_word()};
  if (ftruncate(arena->descriptor_, static_cast<off_t>(size)) != 0 ||
      fcntl(arena->descriptor_, F_ADD_SEALS, seals) != 0)
    return *wrong = failed("a file in memory of the arena's size"), nullptr;
  if (*wrong = arena->map(); !wrong->empty()) return nullptr;
  std::memcpy(arena->base_, &arena->name_.number, sizeof arena->name_.number);
  return arena;
}

std::shared_ptr<Arena> Arena::open(const Name& name, std::string* wrong) {
  if (name.descriptor < 0) return *wrong = "there is no arena", nullptr;
  std::shared_ptr<Arena> arena(new Arena);
  arena->name_ = name;
  arena->descriptor_ = open_file(name, wrong);
  if (arena->descriptor_ < 0) return nullptr;
  struct stat file {};
  if (fstat(arena->descriptor_, &file) != 0 || static_cast<uint64_t>(file.st_size) != name.size ||
      !is_sealed(arena->descriptor_))
    return *wrong = name.path() + " is another file", nullptr;
  if (*wrong = arena->map(); !wrong->empty()) return nullptr;
  if (std::memcmp(arena->base_, &name.number, sizeof name.number) != 0)
    return *wrong = name.path() + " is another arena", nullptr;
  arena->close_door();
  return arena;
}

std::string Arena::map() {
  // aligned like the large pages of the file
  void* const at = Region::reserve_addresses(name_.size);
  if (at == nullptr) return failed("mmap of the arena");
  void* const mapped =
      mmap(at, name_.size, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor_, 0);
  if (mapped == MAP_FAILED || !Region::make_accessible(mapped, name_.size)) {
    std::string wrong = failed("mmap of the arena");
    munmap(at, name_.size);
    return wrong;
  }
  base_ = static_cast<std::byte*>(mapped);
  madvise(mapped, name_.size, MADV_DONTDUMP);  // a core of this size would take minutes to write
  return "";
}

Arena::~Arena() {
  close_door();
  if (base_ != nullptr) munmap(base_, name_.size);
}

void Arena::close_door() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

// Any single rank may have as much memory as the node has, as far as there are addresses for that:
// 2^44 bytes are an eighth of a process's address space.
uint64_t arena_size(int ranks) {
  constexpr uint64_t most = uint64_t{1} << 44, grain = uint64_t{1} << 30;
  struct sysinfo system {};
  sysinfo(&system);
  const uint64_t memory = system.totalram * std::max<uint64_t>(system.mem_unit, 1);
  const uint64_t each = round_up(memory, grain);
  return std::min(most, each * static_cast<uint64_t>(ranks));
}

}  // namespace nearcache::net
