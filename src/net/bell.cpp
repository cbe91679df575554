// SPDX-License-Identifier: BSD-3-Clause
#include "net/bell.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace nearcache::net {

Bell::~Bell() {
  for (const int descriptor : {read_, write_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

void Bell::swap(Bell& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(read_, other.read_);
  std::swap(write_, other.write_);
}

Bell Bell::make(std::string* wrong) {
  Bell bell;
  std::array<int, 2> ends;
  struct stat file {};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    return *wrong = std::string("a pipe: ") + std::strerror(errno), Bell();
  bell.read_ = ends[0], bell.write_ = ends[1];
  if (fstat(bell.write_, &file) != 0)
    return *wrong = std::string("a pipe: ") + std::strerror(errno), Bell();
  bell.name_ = {own_file(bell.write_), file.st_ino};
  return bell;
}

// Opened for reading too: writing to a pipe without a reader would raise a signal.
Bell Bell::open(const Name& name, std::string* wrong) {
  Bell bell;
  bell.name_ = name;
  if (name.descriptor < 0) return *wrong = "there is no bell", Bell();
  bell.write_ = open_file(name, wrong);
  if (bell.write_ < 0) return Bell();
  struct stat file {};
  if (fstat(bell.write_, &file) != 0 || !S_ISFIFO(file.st_mode) || file.st_ino != name.inode)
    return *wrong = name.path() + " is another file", Bell();
  return bell;
}

void Bell::ring() const {
  const char once = 0;
  [[maybe_unused]] const ssize_t written = write(write_, &once, sizeof once);
}

unsigned Bell::silence() const {
  std::array<char, 64> rings;
  const ssize_t got = read(read_, rings.data(), rings.size());
  return got > 0 ? static_cast<unsigned>(got) : 0;
}

}  // namespace nearcache::net
