// SPDX-License-Identifier: BSD-3-Clause
#include "base/whole_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nearcache {
namespace {

constexpr int patience_ms = 1000;

// Blocks SIGPIPE, which a FIFO without a reader raises and which would end the program, and
// consumes it before the thread can receive it.
class BrokenPipesHeld {
 public:
  BrokenPipesHeld() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~BrokenPipesHeld() {
    const int error = errno;
    constexpr timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  BrokenPipesHeld(const BrokenPipesHeld&) = delete;
  BrokenPipesHeld& operator=(const BrokenPipesHeld&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

// Returns false with errno set on failure.
bool write_all(int file, std::string_view text) {
  const BrokenPipesHeld held;
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd slow{file, POLLOUT, 0};
      if (poll(&slow, 1, patience_ms) == 0) return errno = ETIMEDOUT, false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Also closes the file: some file systems report only then that there is no space.
bool write_and_close(int file, std::string_view text) {
  const bool written = write_all(file, text);
  const int error = errno;
  const bool closed = close(file) == 0;
  if (!written) errno = error;
  return written && closed;
}

std::string write_in_place(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return errno == ENXIO ? "nobody reads it" : strerror(errno);
  return write_and_close(file, text) ? std::string() : strerror(errno);
}

// Resolves a symbolic link, so that its target is replaced and the link stays a link.
std::string resolved(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string found = real == nullptr ? path : real;
  free(real);
  return found;
}

}  // namespace

std::string write_whole_file(const std::string& path, std::string_view text) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && (!S_ISREG(status.st_mode) || access(path.c_str(), W_OK) != 0))
    return write_in_place(path, text);
  const std::string target = exists ? resolved(path) : path;
  const std::string beside = target + ".part." + std::to_string(getpid());
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return exists ? write_in_place(path, text) : strerror(errno);
  // writing the file matters more than keeping its permissions
  if (exists && fchmod(file, status.st_mode & 07777) != 0) errno = 0;
  if (write_and_close(file, text) && rename(beside.c_str(), target.c_str()) == 0) return {};
  const int error = errno;
  unlink(beside.c_str());
  return strerror(error);
}

}  // namespace nearcache
