// One file written by all ranks, each its own part.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace apps {

/// Usage: construct (collective), write any number of times on any rank, finish (collective).
/// Needs a file system that all ranks share. An existing file is replaced.
class SharedFile {
 public:
  /// Collective. Agrees to fail if any rank cannot open the file.
  SharedFile(MPI_Comm comm, std::string path);
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  /// Local. Errors are kept and told by finish().
  void write(std::uint64_t offset, const void* data, std::uint64_t bytes);

  /// Collective. Closes the file and agrees to fail if anything went wrong.
  void finish();

 private:
  MPI_Comm comm_;
  std::string path_;
  std::string error_;
  int descriptor_ = -1;
};

}  // namespace apps
