// Barriers of the program and of its end, and the runtime's own.
#pragma once

#include <cstdint>

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// What a thread says when it comes to a barrier.
struct Expression {
  // end: the program has ended on this thread, with exit status `value`
  enum Kind { none = 0, value_given = 1, end = 2 };
  Kind kind = none;
  int value = 0;
};

// A barrier of the program under way, or between two.
struct Phase {
  uint64_t epoch = 0;
  int round = 0;
  Expression expression;
  const char* call = "";
  const char* file = nullptr;
  int line = 0;

  void start(const Expression& own);
  void send() const;
  bool advance();  // takes the messages that are there; true when all have come
  void combine(const Expression& other);
};

struct Barriers {
  Phase phase;
  bool notified = false;
  uint64_t internal_epoch = 0;  // of the runtime's own barriers
};

// The implicit barrier at the end of a thread. That another thread is in a barrier of the program
// is an error, or, with a nonzero status, the end of all threads.
void end_barrier(int status);

}  // namespace nearcache::upc
#pragma GCC visibility pop
