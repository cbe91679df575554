// SPDX-License-Identifier: BSD-3-Clause

// The guard page at the start of every arena within reach.
#pragma once

#include <signal.h>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Guard {
  struct sigaction before_us = {};  // the previous handler of faults
};

void guard_start();
void guard_end();

}  // namespace nearcache::upc
#pragma GCC visibility pop
