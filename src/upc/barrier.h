// SPDX-License-Identifier: BSD-3-Clause

// The program's barriers, the one at its end, and the runtime's own.
#pragma once

#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// The value with which a thread enters a barrier.
struct Expression {
  // end: this thread has ended the program with exit status `value`
  enum Kind { none = 0, value_given = 1, end = 2 };
  Kind kind = none;
  int value = 0;
};

// The state of the program's barrier, in progress or between two barriers.
struct Phase {
  uint64_t epoch = 0;
  int round = 0;
  Expression expression;
  const char* call = "";
  const char* file = nullptr;
  int line = 0;

  void start(const Expression& own);
  void send() const;
  bool advance();  // takes the messages that have arrived; true once all have
  void combine(const Expression& other);
};

struct Barriers {
  Phase phase;
  bool notified = false;
  uint64_t internal_epoch = 0;  // of the runtime's own barriers
};

// The implicit barrier at the end of a thread. If another thread is in a barrier of the program,
// this is an error or, with a nonzero status, ends all threads.
void end_barrier(int status);

}  // namespace nearcache::upc
#pragma GCC visibility pop
