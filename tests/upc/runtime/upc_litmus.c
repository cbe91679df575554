/* What strict accesses promise: message passing, Dekker's test, spinning; and that relaxed spinning
 * ends. */
#include "check.h"

enum { data_words = 8 };
static ncupc_ptr flag, data, x, y, seen, relaxed;

static void place(void) {
  ncupc_place(&flag, "flag", sizeof(int), 8, 1, NCUPC_HERE);
  ncupc_place(&data, "data", sizeof(long), 64, 1, NCUPC_HERE);
  ncupc_place(&x, "x", sizeof(int), 1, 0, NCUPC_HERE);
  ncupc_place(&y, "y", sizeof(int), 8, 1, NCUPC_HERE);
  ncupc_place(&seen, "seen", sizeof(int), 8, 1, NCUPC_HERE);
  ncupc_place(&relaxed, "relaxed", sizeof(int), 8, 1, NCUPC_HERE);
}
NCUPC_MODULE("upc_litmus.c", place, NULL);

static ncupc_ptr int_of(ncupc_ptr array, int thread) {
  return ncupc_add(array, thread, sizeof(int), 1);
}
static ncupc_ptr datum(int i) { return ncupc_add(data, i, sizeof(long), 1); }

/* Thread 0 writes data in many places, relaxed, then a flag, strictly; a thread that has seen the
 * flag sees all of the data, wherever they lie. The reader has just read the old data, so that a
 * cache has them. */
static void check_message_passing(int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    const ncupc_ptr at = int_of(flag, round % THREADS);
    if (MYTHREAD == 0) {
      for (int i = 0; i < data_words; ++i) NCUPC_PUT(long, datum(i), (long)round * 10 + i);
      NCUPC_PUT_STRICT(int, at, round);
    } else {
      for (int i = 0; i < data_words; ++i) {
        const long before = NCUPC_GET(long, datum(i));
        CHECK(before == (long)round * 10 + i || before == (long)(round - 1) * 10 + i || round == 1,
              "%ld in round %d", before, round);
      }
      while (NCUPC_GET_STRICT(int, at) != round) {
      }
      for (int i = 0; i < data_words; ++i)
        CHECK(NCUPC_GET(long, datum(i)) == (long)round * 10 + i, "datum %d, round %d", i, round);
    }
    NCUPC_BARRIER();
  }
}

/* Each thread writes its own word and reads the other's: with strict accesses, at least one sees
 * the other's write. */
static void check_dekker(int rounds) {
  const int last = THREADS - 1;
  for (int round = 1; round <= rounds; ++round) {
    const ncupc_ptr first = x, second = int_of(y, round % THREADS);
    if (MYTHREAD == 0) {
      NCUPC_PUT_STRICT(int, first, round);
      NCUPC_PUT(int, int_of(seen, 0), NCUPC_GET_STRICT(int, second));
    }
    if (MYTHREAD == last) {
      NCUPC_PUT_STRICT(int, second, round);
      NCUPC_PUT(int, int_of(seen, 1), NCUPC_GET_STRICT(int, first));
    }
    NCUPC_BARRIER();
    CHECK(NCUPC_GET(int, int_of(seen, 0)) == round || NCUPC_GET(int, int_of(seen, 1)) == round,
          "round %d", round);
    NCUPC_BARRIER();
    if (MYTHREAD == 0) NCUPC_PUT(int, second, 0);
    NCUPC_BARRIER();
  }
}

/* A relaxed write and fences order as well. The reader spins on its own memory, or on another
 * thread's, by relaxed reads. */
static void check_relaxed_spin(int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    const ncupc_ptr at = int_of(relaxed, round % THREADS);
    if (MYTHREAD == 0) {
      NCUPC_PUT(long, datum(round % 8), round);
      NCUPC_FENCE();
      NCUPC_PUT(int, at, round);
      NCUPC_FENCE();
    } else {
      while (NCUPC_GET(int, at) != round) {
      }
      NCUPC_FENCE();
      CHECK(NCUPC_GET(long, datum(round % 8)) == round, "round %d", round);
    }
    NCUPC_BARRIER();
  }
}

/* A token goes round: every thread waits for its word, in its own memory, and sets the next one's.
 * */
static void check_ring(int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    const ncupc_ptr mine = int_of(flag, MYTHREAD), next = int_of(flag, (MYTHREAD + 1) % THREADS);
    if (MYTHREAD == 0) NCUPC_PUT_STRICT(int, next, 1000 + round);
    while (NCUPC_GET_STRICT(int, mine) != 1000 + round) {
    }
    if (MYTHREAD != 0) NCUPC_PUT_STRICT(int, next, 1000 + round);
  }
  NCUPC_BARRIER();
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  check_message_passing(rounds);
  check_dekker(rounds);
  check_relaxed_spin(rounds / 2);
  check_ring(rounds);
  return verdict();
}
