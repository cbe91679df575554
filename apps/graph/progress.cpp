// SPDX-License-Identifier: BSD-3-Clause
#include "graph/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>

#include <fmt/core.h>

namespace apps {

Progress::Progress(bool enabled, std::string what, std::uint64_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) == 1) {
  step_ = std::max<std::uint64_t>(1, total / (terminal_ ? 100 : 10));
  next_ = enabled && total > 0 ? step_ : std::numeric_limits<std::uint64_t>::max();
}

void Progress::show(std::uint64_t done) {
  const auto percent = 100 * done / total_;
  fmt::print(stderr, "{}{} {}%{}", terminal_ ? "\r" : "", what_, percent,
             terminal_ && done < total_ ? "" : "\n");
  std::fflush(stderr);
  // The last step ends exactly at the total, so that 100% is always shown.
  next_ = done >= total_ ? std::numeric_limits<std::uint64_t>::max()
                         : std::min(total_, (done / step_ + 1) * step_);
}

void progress_line(bool enabled, const std::string& text) {
  if (enabled) fmt::print(stderr, "{}\n", text);
}

}  // namespace apps
