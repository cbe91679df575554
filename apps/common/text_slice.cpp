// SPDX-License-Identifier: BSD-3-Clause
#include "text_slice.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/core.h>

namespace apps {
namespace {

// A file open for reading.
class Input {
 public:
  explicit Input(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail();
  }
  ~Input() { close(descriptor_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  std::uint64_t size() const {
    struct stat status;
    if (fstat(descriptor_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode))
      throw std::runtime_error(fmt::format("{}: not a regular file", path_));
    return static_cast<std::uint64_t>(status.st_size);
  }

  std::size_t read(char* into, std::size_t size, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < size) {
      const ssize_t got =
          pread(descriptor_, into + done, size - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
  }
  std::string path_;
  int descriptor_;
};

}  // namespace

std::uint64_t file_size(const std::string& path) { return Input(path).size(); }

std::string read_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size) {
  const Input input(path);
  const std::uint64_t end = input.size();
  std::string text(offset < end ? std::min(size, end - offset) : 0, '\0');
  text.resize(input.read(text.data(), text.size(), offset));
  return text;
}

std::string read_lines(const std::string& path, std::uint64_t first, std::uint64_t last) {
  if (first >= last) return {};
  // Start one byte earlier: a line begins at `first` if and only if the byte before it ends one.
  const std::uint64_t from = first == 0 ? 0 : first - 1;
  std::string text = read_bytes(path, from, last - from);
  if (first != 0) {
    const auto end = text.find('\n');
    if (end == std::string::npos) return {};  // the slice lies within another slice's line
    text.erase(0, end + 1);
    if (text.empty()) return {};
  }
  constexpr std::uint64_t step = 4096;
  for (std::uint64_t at = last; !text.empty() && text.back() != '\n'; at += step) {
    const std::string more = read_bytes(path, at, step);
    if (more.empty()) break;
    text.append(more, 0, std::min(more.find('\n'), more.size() - 1) + 1);
  }
  return text;
}

bool next_line(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const auto end = text.find('\n');
  line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

std::string_view next_word(std::string_view& line) {
  constexpr std::string_view separators = " \t,";
  const auto begin = line.find_first_not_of(separators);
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  line.remove_prefix(begin);
  const auto word = line.substr(0, line.find_first_of(separators));
  line.remove_prefix(word.size());
  return word;
}

std::string excerpt(std::string_view line) {
  std::string shown(line.substr(0, 60));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown + (line.size() > 60 ? "..." : "");
}

}  // namespace apps
