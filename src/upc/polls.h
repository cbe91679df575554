// SPDX-License-Identifier: BSD-3-Clause

// How waiting threads let the library progress and other threads run on their processor.
#pragma once

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Polls {
  int looks_before_yield = 20;
  void (*library_progress)() = nullptr;  // the OpenSHMEM library's progress function, if any
  unsigned tests = 0;                    // calls made to progress it otherwise
  unsigned relaxed = 0, strict = 0;      // looks of polling loops over memory within reach
};

// Finds out how to make the library progress.
void polls_start(int looks_before_yield);

}  // namespace nearcache::upc
#pragma GCC visibility pop
