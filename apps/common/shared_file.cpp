// SPDX-License-Identifier: BSD-3-Clause
#include "shared_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "agreement.h"

namespace apps {
namespace {

std::string write_error(const std::string& path) {
  return fmt::format("cannot write {}: {}", path, std::strerror(errno));
}

int open_for_writing(const std::string& path, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (descriptor < 0) throw Failure(write_error(path));
  return descriptor;
}

}  // namespace

SharedFile::SharedFile(MPI_Comm comm, std::string path) : comm_(comm), path_(std::move(path)) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  // Rank 0 first: no other rank may write to the file before rank 0 has truncated it.
  std::string error = error_of([&] {
    if (rank == 0) descriptor_ = open_for_writing(path_, O_CREAT | O_TRUNC);
  });
  agree(comm, error);
  error = error_of([&] {
    if (rank != 0) descriptor_ = open_for_writing(path_, 0);
  });
  if (!error.empty()) error += " (the file system must be shared by all ranks)";
  agree(comm, error);
}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void SharedFile::write(std::uint64_t offset, const void* data, std::uint64_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0 && error_.empty()) {
    const ssize_t done = pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      error_ = write_error(path_);
      return;
    }
    from += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::uint64_t>(done);
  }
}

void SharedFile::finish() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0 && error_.empty()) error_ = write_error(path_);
  agree(comm_, error_);
}

}  // namespace apps
