// SPDX-License-Identifier: BSD-3-Clause

// Progress on standard error. MPI-free.
#pragma once

#include <cstdint>
#include <string>

namespace apps {

/// Shows a percentage: rewrites one line on a terminal, otherwise prints a plain line every 10%.
class Progress {
 public:
  /// Shows nothing unless `enabled`. `what` names the program and the work, as in "lcc: counting
  /// triangles".
  Progress(bool enabled, std::string what, std::uint64_t total);

  /// May be called often: costs one comparison unless there is something to show.
  void at(std::uint64_t done) {
    if (done >= next_) show(done);
  }

 private:
  void show(std::uint64_t done);

  std::string what_;
  std::uint64_t total_, step_, next_;
  bool terminal_;
};

/// Prints one plain line if `enabled`.
void progress_line(bool enabled, const std::string& text);

}  // namespace apps
