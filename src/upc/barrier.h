// Barriers of the program and of its end.
#pragma once

#include "upc/internal.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// What a thread says when it comes to a barrier.
struct Expression {
  enum Kind { none = 0, value_given = 1, end = 2 };  // end: the program has ended on this thread, with exit status `value`
  Kind kind = none;
  int value = 0;
};

// The implicit barrier at the end of a thread. That another thread is in a barrier of the program is an error, or, with a nonzero
// status, the end of all threads.
void end_barrier(int status);

}  // namespace nearcache::upc
#pragma GCC visibility pop
