// SPDX-License-Identifier: BSD-3-Clause

// The fence of a window whose members all share memory: the same barrier as Fence, by shared words
// instead of tokens. No operations are counted, because origins execute them themselves.
#pragma once

#include <cstdint>

namespace nearcache::rma {

class Window;

class NearFence {
 public:
  void enter(Window* window);
  // Advances as far as tokens have arrived. Returns true if all ranks have entered.
  bool met(Window* window);

 private:
  void send_round(Window* window) const;

  uint32_t fence_ = 0;  // the last one entered; may wrap around
  int round_ = 0;       // whose word is awaited
};

}  // namespace nearcache::rma
