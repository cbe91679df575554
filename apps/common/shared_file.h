// SPDX-License-Identifier: BSD-3-Clause

// A file to which every rank writes its own part.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace apps {

/// Usage: construct (collective), write any number of times on any rank, finish (collective). All
/// ranks must share the file system. Replaces an existing file.
class SharedFile {
 public:
  /// Collective. Fails on all ranks if any rank cannot open the file.
  SharedFile(MPI_Comm comm, std::string path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Local. Errors are kept and reported by finish().
  void write(std::uint64_t offset, const void* data, std::uint64_t bytes);

  /// Collective. Closes the file and fails on all ranks if anything went wrong.
  void finish();

 private:
  MPI_Comm comm_;
  std::string path_;
  std::string error_;
  int descriptor_ = -1;
};

}  // namespace apps
