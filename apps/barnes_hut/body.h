// SPDX-License-Identifier: BSD-3-Clause

// A body, in the form in which it travels between ranks.
#pragma once

#include <cstdint>

#include "geometry.h"

namespace barnes_hut {

struct Body {
  std::uint64_t id = 0;   // 0 .. bodies-1; never changes
  std::uint64_t key = 0;  // of its position on the Morton curve (morton.h)
  // nodes visited for this body in the last force phase; the distribution balances this
  std::uint64_t work = 1;
  double mass = 0;
  Vector position, velocity;
  Field field;
};

}  // namespace barnes_hut
