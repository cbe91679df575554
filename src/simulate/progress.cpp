// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"

namespace nearcache::simulate {

static constexpr uint64_t second = 1000000000u;

Progress::Progress(bool shown, uint64_t steps)
    : shown_(shown), steps_(std::max<uint64_t>(steps, 1)), started_(system_ns()) {}

Progress::~Progress() {
  if (drawn_ != 0) fmt::print(stderr, "\r{:40}\r", "");
}

void Progress::advance(uint64_t steps) {
  done_ += steps;
  if (!shown_) return;
  const uint64_t now = system_ns();
  if (now - started_ > second && now - drawn_ > second / 5) draw(now);
}

void Progress::draw(uint64_t now) {
  constexpr int width = 20;
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(steps_));
  const double left =
      static_cast<double>(now - started_) / second * (1 - share) / std::max(share, 1e-6);
  const auto full = static_cast<size_t>(share * width);
  fmt::print(stderr, "\r[{:<{}}] {:3.0f}% {:5.0f} s left ", std::string(full, '#'), width,
             100 * share, left);
  fflush(stderr);
  drawn_ = now;
}

}  // namespace nearcache::simulate
