// SPDX-License-Identifier: BSD-3-Clause
#include "base/mapping.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "base/loaded_objects.h"

namespace nearcache {
namespace {

// struct procmap_query and its flags, of linux/fs.h; older headers do not have them.
struct Question {
  uint64_t size = sizeof(Question);
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t from = 0, to = 0, its_flags = 0;
  uint64_t page_size = 0, offset = 0, inode = 0;
  uint32_t major = 0, minor = 0, name_size = 0, build_id_size = 0;
  uint64_t name = 0, build_id = 0;
};
static_assert(sizeof(Question) == 104);
constexpr unsigned long ask = _IOWR('f', 17, Question);
constexpr const char* maps_of_self = "/proc/self/maps";
constexpr uint64_t is_readable = 1, is_shared = 8, this_or_next = 16;

// Collects the mappings of [begin, end), told in the order of addresses.
class Pieces {
 public:
  Pieces(uintptr_t begin, uintptr_t end) : begin_(begin), end_(end), reached_(begin) {}

  // `inode`: of the file that is mapped; 0 if there is none.
  void add(uintptr_t from, uintptr_t to, bool readable, bool shared, uint64_t inode) {
    if (from < end_ && begin_ < to) {
      shared_ = shared_ || shared;
      if (inode != 0 && !shared) of_files_.push_back(std::max(from, begin_));
    }
    if (from <= reached_ && reached_ < to && readable) reached_ = to;
  }
  Mapping all() const {
    return {.shared = shared_, .readable = reached_ >= end_, .of_file = of_other_file()};
  }

 private:
  // An object's file is not written to while it is loaded; the executable's cannot be.
  bool of_other_file() const {
    if (of_files_.empty()) return false;
    const std::vector<LoadedObject> objects = loaded_objects();
    return std::ranges::any_of(of_files_, [&](uintptr_t from) {
      return std::ranges::none_of(objects, [&](const LoadedObject& object) {
        return object.contains(reinterpret_cast<const void*>(from));
      });
    });
  }

  uintptr_t begin_, end_, reached_;
  bool shared_ = false;
  std::vector<uintptr_t> of_files_;  // where private mappings of files begin
};

// Returns false if the system does not answer such questions.
bool ask_about(uintptr_t begin, uintptr_t end, Pieces* pieces) {
  const int maps = open(maps_of_self, O_RDONLY | O_CLOEXEC);
  bool answers = maps >= 0;
  Question question;
  question.flags = this_or_next;
  for (question.address = begin; answers && question.address < end;
       question.address = question.to) {
    if (ioctl(maps, ask, &question) != 0) {
      answers = errno == ENOENT;  // no further mapping
      break;
    }
    pieces->add(question.from, question.to, (question.its_flags & is_readable) != 0,
                (question.its_flags & is_shared) != 0, question.inode);
  }
  if (maps >= 0) close(maps);
  return answers;
}

bool read_text(uintptr_t end, Pieces* pieces) {
  std::FILE* maps = std::fopen(maps_of_self, "re");
  if (maps == nullptr) return false;
  uintptr_t from = 0, to = 0;
  char line[4096];
  while (from < end && std::fgets(line, sizeof line, maps) != nullptr) {
    char rights[5] = {};
    uint64_t inode = 0;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %" SCNu64, &from, &to, rights,
                    &inode) == 4)
      pieces->add(from, to, rights[0] == 'r', rights[3] == 's', inode);
  }
  std::fclose(maps);
  return true;
}

}  // namespace

Mapping mapping_of(const void* base, uint64_t bytes, bool by_text) {
  const auto begin = reinterpret_cast<uintptr_t>(base);
  const uintptr_t end = begin + bytes;
  Pieces pieces(begin, end);
  const bool told = (!by_text && ask_about(begin, end, &pieces)) || read_text(end, &pieces);
  return told ? pieces.all() : Mapping{};
}

}  // namespace nearcache
