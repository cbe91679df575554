// SPDX-License-Identifier: BSD-3-Clause

// Split-phase barriers by dissemination: in round r each thread tells the thread 2^r after it that
// the 2^r threads up to and including itself have arrived, so after log2(THREADS) rounds every
// thread knows that all have (Hensgen, Finkel, Manber 1988). A notify sends the first message, and
// further ones as far as the messages they depend on have arrived; the wait does the rest.
//
// A message is one word: epoch 30 bits | kind of the expression 2 bits | its value 32 bits.
// Messages of two successive barriers go to different words (parity): a thread may be in the next
// barrier while another still waits in this one, but not in the one after that.
#include <shmem.h>

#include "upc/internal.h"

namespace nearcache::upc {
namespace {

constexpr uint64_t epoch_mask = (uint64_t{1} << 30) - 1;

constexpr Phase& phase = runtime.barriers.phase;
constexpr bool& notified = runtime.barriers.notified;

enum Instance { program = 0, internal = 1 };

uint64_t message(uint64_t epoch, const Expression& e) {
  return (epoch & epoch_mask) << 34 | static_cast<uint64_t>(e.kind) << 32 |
         static_cast<uint32_t>(e.value);
}
uint64_t epoch_of(uint64_t word) { return word >> 34; }
Expression expression_of(uint64_t word) {
  return {static_cast<Expression::Kind>(word >> 32 & 3),
          static_cast<int>(static_cast<uint32_t>(word))};
}

size_t partner(int round) {
  return (static_cast<size_t>(ncupc_mythread) + (size_t{1} << round)) %
         static_cast<size_t>(ncupc_threads);
}
bool more(int round) { return (int64_t{1} << round) < ncupc_threads; }

// At its end a thread sends its exit status and the number of collective calls it has begun.
constexpr int status_bits = 8;
int end_value(int status, uint32_t calls) {
  return static_cast<int>(calls << status_bits | (static_cast<uint32_t>(status) & 0xff));
}

// If a thread ends with a nonzero status, the others cannot continue and end with it, too.
void end_with_status(const Expression& end) {
  const int status = end.value & 0xff;
  if (status != 0) upc_global_exit(status);
}

}  // namespace

void Phase::start(const Expression& own) {
  ++epoch;
  round = 0;
  expression = own;
  if (more(round)) send();
}

void Phase::send() const {
  word_put(partner(round),
           NCUPC_CONTROL(barrier) +
               ((program * 2 + epoch % 2) * barrier_rounds + static_cast<size_t>(round)) * 8,
           message(epoch, expression));
}

bool Phase::advance() {
  while (more(round)) {
    const uint64_t word =
        own_word(NCUPC_CONTROL(barrier) +
                 ((program * 2 + epoch % 2) * barrier_rounds + static_cast<size_t>(round)) * 8);
    if (epoch_of(word) != (epoch & epoch_mask)) return false;
    combine(expression_of(word));
    ++round;
    if (more(round)) send();
  }
  return true;
}

void Phase::combine(const Expression& other) {
  const Expression& mine = expression;
  if ((other.kind == Expression::end) != (mine.kind == Expression::end)) {
    end_with_status(other.kind == Expression::end ? other : mine);
    if (mine.kind == Expression::end)
      ncupc_error(nullptr, 0, "exit",
                  "another thread waits in a barrier that this one does not reach");
    ncupc_error(file, line, call, "another thread has ended without this barrier");
  }
  if (other.kind == Expression::value_given && mine.kind == Expression::value_given &&
      other.value != mine.value) {
    ncupc_error(file, line, call, "the expression is %d here, %d on another thread", mine.value,
                other.value);
  }
  if (other.kind == Expression::value_given) expression = other;
}

namespace {

void finish_phase() {
  Waiter waiter;
  while (!phase.advance()) waiter.pause();
  notified = false;
  acquire(phase.call);
}

void start_phase(const Expression& expression, const char* call, const char* file, int line) {
  phase.call = call;
  phase.file = file;
  phase.line = line;
  release();
  notified = true;
  phase.start(expression);
}

Expression given(int has_value, int value) {
  return has_value ? Expression{Expression::value_given, value} : Expression{};
}

}  // namespace

void end_barrier(int status) {
  if (notified) finish_phase();
  start_phase({Expression::end, end_value(status, runtime.collective_calls)}, "exit", nullptr, 0);
  finish_phase();
}

// The word for the next barrier's first message may instead receive another thread's end: that
// thread will make no further collective calls.
void CollectiveWaiter::pause() {
  waiter_.pause();
  const uint64_t next = phase.epoch + (notified ? 0 : 1);
  const uint64_t word =
      own_word(NCUPC_CONTROL(barrier) + (program * 2 + next % 2) * barrier_rounds * 8);
  const Expression other = expression_of(word);
  if (other.kind != Expression::end || epoch_of(word) != (next & epoch_mask)) return;
  const int lead = static_cast<int>(static_cast<uint32_t>(other.value) -
                                    static_cast<uint32_t>(end_value(0, runtime.collective_calls)));
  if (lead >= 0) return;  // that thread has begun this call, too
  end_with_status(other);
  ncupc_error(nullptr, 0, "collective call", "another thread has ended without it");
}

// The same algorithm with a payload beside each message and nothing to compare. Combines by
// maximum, because a contribution may arrive by several paths.
uint64_t internal_barrier(uint64_t contribution) {
  release();
  const uint64_t epoch = ++runtime.barriers.internal_epoch;
  ++runtime.collective_calls;
  for (int round = 0; more(round); ++round) {
    const uint64_t place =
        ((internal * 2 + epoch % 2) * barrier_rounds + static_cast<size_t>(round)) * 8;
    const uint64_t payload =
        NCUPC_CONTROL(payload) + ((epoch % 2) * barrier_rounds + static_cast<size_t>(round)) * 8;
    word_put(partner(round), payload, contribution);
    if (ncupc_near[partner(round)] == nullptr) shmem_fence();
    word_put(partner(round), NCUPC_CONTROL(barrier) + place, epoch);
    CollectiveWaiter waiter;
    while (own_word(NCUPC_CONTROL(barrier) + place) != epoch) waiter.pause();
    const uint64_t other = own_word(payload);
    if (other > contribution) contribution = other;
  }
  acquire("barrier of the runtime");
  return contribution;
}

}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

void ncupc_notify(int has_value, int value, const char* file, int line) {
  if (notified) {
    ncupc_error(file, line, "upc_notify",
                "follows the upc_notify of line %d without a upc_wait in between", phase.line);
  }
  start_phase(given(has_value, value), "upc_notify", file, line);
  phase.advance();
}

void ncupc_wait(int has_value, int value, const char* file, int line) {
  if (!notified) ncupc_error(file, line, "upc_wait", "no upc_notify came before it");
  phase.call = "upc_wait";
  phase.file = file;
  phase.line = line;
  const Expression waited = given(has_value, value);
  const auto check = [&] {
    if (waited.kind == Expression::value_given &&
        phase.expression.kind == Expression::value_given &&
        phase.expression.value != waited.value) {
      ncupc_error(file, line, "upc_wait", "the expression is %d here, %d in a upc_notify",
                  waited.value, phase.expression.value);
    }
  };
  check();
  finish_phase();
  check();
}

void ncupc_barrier(int has_value, int value, const char* file, int line) {
  if (notified)
    ncupc_error(file, line, "upc_barrier",
                "comes between the upc_notify of line %d and its upc_wait", phase.line);
  start_phase(given(has_value, value), "upc_barrier", file, line);
  finish_phase();
}

}  // extern "C"
