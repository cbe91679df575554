// How waiting threads let the library, and other threads of their processor, go on.
#pragma once

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Polls {
  int looks_before_yield = 20;
  void (*library_progress)() = nullptr;  // of the OpenSHMEM library, if it has such a function
  unsigned tests = 0;                    // by which it is made to progress if not
  unsigned relaxed = 0, strict = 0;      // of loops over memory within reach
};

// Finds out how the library is made to progress.
void polls_start(int looks_before_yield);

}  // namespace nearcache::upc
#pragma GCC visibility pop
