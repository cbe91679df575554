// One body, as it travels between ranks.
#pragma once

#include <cstdint>

#include "geometry.h"

namespace barnes_hut {

struct Body {
  std::uint64_t id = 0;   // 0 .. bodies-1, for life
  std::uint64_t key = 0;  // of its place on the Morton curve (morton.h)
  // nodes visited for it in the last force phase: what the distribution balances
  std::uint64_t work = 1;
  double mass = 0;
  Vector position, velocity;
  Field field;
};

}  // namespace barnes_hut
