// SPDX-License-Identifier: BSD-3-Clause

// The result of an operation.
#pragma once

#include <cstdint>

namespace nearcache::rma {

enum class Status : uint8_t {
  ok,
  out_of_range,
  bad_operation,
  not_locked,
  no_window,
  lost_peer,
  lost_lock,
  half_done  // a rank died while it executed an accumulate there
};
inline constexpr int status_count = 8;

}  // namespace nearcache::rma
