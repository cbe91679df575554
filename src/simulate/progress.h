// SPDX-License-Identifier: BSD-3-Clause

// A line on standard error that shows the progress of a long simulation.
#pragma once

#include <cstdint>
#include <string>

namespace nearcache::simulate {

class Progress {
 public:
  // Shows nothing unless `shown`, and nothing in the first second.
  Progress(bool shown, uint64_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(uint64_t steps);

 private:
  void draw(uint64_t now);

  const bool shown_;
  const uint64_t steps_;
  uint64_t done_ = 0;
  const uint64_t started_;
  uint64_t drawn_ = 0;
};

}  // namespace nearcache::simulate
