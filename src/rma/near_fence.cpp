// SPDX-License-Identifier: BSD-3-Clause
#include "rma/near_fence.h"

#include "rma/window.h"

namespace nearcache::rma {

void NearFence::enter(Window* window) {
  ++fence_;
  round_ = 0;
  send_round(window);
}

void NearFence::send_round(Window* window) const {
  const int64_t ranks = window->members().size(), distance = int64_t{1} << round_;
  if (distance >= ranks) return;
  Commons* const to = window->near(static_cast<int>((window->rank() + distance) % ranks))->commons;
  if (to == nullptr) return;  // not found before a member was lost: the fence never ends
  to->of_ranks()[round_].token.store(fence_, std::memory_order_release);
  to->bell.ring();
}

// No rank is more than one fence ahead.
bool NearFence::met(Window* window) {
  while (int64_t{1} << round_ < window->members().size()) {
    const Commons::OfRank& here = window->own().commons->of_ranks()[round_];
    const uint32_t token = here.token.load(std::memory_order_acquire);
    if (static_cast<int32_t>(token - fence_) < 0) return false;
    ++round_;
    send_round(window);
  }
  return true;
}

}  // namespace nearcache::rma
