/* Locks: mutual exclusion, order, attempts, and many at once. */
#include <time.h>

#include "check.h"

static ncupc_ptr counters, order, turn, attempts;

static void place(void) {
  ncupc_place(&counters, "counters", sizeof(long), 4, 1, NCUPC_HERE);
  ncupc_place(&order, "order", sizeof(int), 8, 0, NCUPC_HERE);
  ncupc_place(&turn, "turn", sizeof(int), 1, 1, NCUPC_HERE);
  ncupc_place(&attempts, "attempts", sizeof(long), 1, 1, NCUPC_HERE);
}
NCUPC_MODULE("upc_locks.c", place, NULL);

/* Counters protected only by the lock, each on another thread than its lock. */
static void check_exclusion(ncupc_ptr* locks, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const int k = (i + MYTHREAD) % 4;
    const ncupc_ptr counter = ncupc_add(counters, k, sizeof(long), 1);
    upc_lock(locks[k]);
    const long before = NCUPC_GET(long, counter);
    NCUPC_PUT(long, counter, before + 1);
    CHECK(NCUPC_GET(long, counter) == before + 1);
    upc_unlock(locks[k]);
  }
  NCUPC_BARRIER();
  long sum = 0;
  for (int k = 0; k < 4; ++k) sum += NCUPC_GET(long, ncupc_add(counters, k, sizeof(long), 1));
  CHECK(sum == (long)rounds * THREADS, "%ld", sum);
}

static void check_attempts(ncupc_ptr lock, int rounds) {
  int taken = 0;
  while (taken < rounds) {
    if (!upc_lock_attempt(lock)) continue;
    NCUPC_PUT(long, attempts, NCUPC_GET(long, attempts) + 1);
    upc_unlock(lock);
    ++taken;
  }
  NCUPC_BARRIER();
  CHECK(NCUPC_GET(long, attempts) == (long)rounds * THREADS);
  if (MYTHREAD == 0) upc_lock(lock);
  NCUPC_BARRIER();
  if (MYTHREAD != 0) CHECK(upc_lock_attempt(lock) == 0);
  NCUPC_BARRIER();
  if (MYTHREAD == 0) upc_unlock(lock);
  NCUPC_BARRIER();
  if (MYTHREAD == THREADS - 1) {
    CHECK(upc_lock_attempt(lock) == 1);
    upc_unlock(lock);
  }
}

static void log_turn(void) {
  const int at = NCUPC_GET(int, turn);
  NCUPC_PUT(int, ncupc_add(order, at, sizeof(int), 0), MYTHREAD);
  NCUPC_PUT(int, turn, at + 1);
}

/* First come, first served: thread 0 holds the lock and lets the others arrive one by one, which it
 * sees by the lock's word (the end of its queue). Finally it releases the lock and requests it
 * again; it must then come after all of them. */
static void check_order(ncupc_ptr lock) {
  const ncupc_ptr go = upc_all_alloc(1, sizeof(int));
  if (MYTHREAD == 0) {
    NCUPC_PUT_STRICT(int, go, 0);
    upc_lock(lock);
  }
  NCUPC_BARRIER();
  if (MYTHREAD == 0) {
    uint64_t end = NCUPC_GET_STRICT(uint64_t, lock);
    for (int thread = 1; thread < THREADS; ++thread) {
      NCUPC_PUT_STRICT(int, go, thread);
      uint64_t now = end;
      while ((now = NCUPC_GET_STRICT(uint64_t, lock)) == end) {
      }
      end = now;
    }
    upc_unlock(lock);
    upc_lock(lock);
    log_turn();
    upc_unlock(lock);
  } else {
    while (NCUPC_GET_STRICT(int, go) != MYTHREAD) {
    }
    upc_lock(lock);
    log_turn();
    upc_unlock(lock);
  }
  NCUPC_BARRIER();
  for (int i = 0; i < THREADS; ++i)
    CHECK(NCUPC_GET(int, ncupc_add(order, i, sizeof(int), 0)) == (i + 1) % THREADS, "turn %d", i);
}

/* Thread 0 repeatedly takes the lock, which has affinity to it, and sleeps in between with the lock
 * free. Another thread that requests it once must get it before some later round of thread 0's,
 * although over a network only thread 0's own calls can grant it. */
static void check_turn_of_others(ncupc_ptr lock) {
  enum { most_rounds = 100 };
  const ncupc_ptr seen = upc_all_alloc(1, sizeof(int));
  if (MYTHREAD == 0) NCUPC_PUT_STRICT(int, seen, 0);
  NCUPC_BARRIER();
  if (MYTHREAD == 0) {
    int round = 0;
    for (int done = 0; !done && round < most_rounds; ++round) {
      upc_lock(lock);
      done = *(volatile int*)upc_cast(seen);
      upc_unlock(lock);
      nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    CHECK(round < most_rounds, "nobody else got the lock in %d rounds", round);
  } else if (MYTHREAD == 1) {
    upc_lock(lock);
    NCUPC_PUT(int, seen, 1);
    upc_unlock(lock);
  }
  NCUPC_BARRIER();
}

static void check_many(void) {
  enum { many = 200 };
  ncupc_ptr locks[many];
  for (int i = 0; i < many; ++i) {
    locks[i] = upc_global_lock_alloc();
    CHECK(upc_threadof(locks[i]) == (size_t)MYTHREAD);
    upc_lock(locks[i]);
  }
  for (int i = 0; i < many; ++i) upc_unlock(locks[(i * 77) % many]);
  for (int i = 0; i < many; ++i) {
    CHECK(upc_lock_attempt(locks[i]) == 1);
    upc_lock_free(locks[i]); /* a held lock may be freed */
  }
  const ncupc_ptr again = upc_global_lock_alloc(); /* at the address of a freed one */
  upc_lock(again);
  upc_unlock(again);
  upc_lock_free(again);
  upc_lock_free(NCUPC_NULL);
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 400;
  ncupc_ptr locks[4];
  for (int k = 0; k < 4; ++k) {
    locks[k] = upc_all_lock_alloc();
    CHECK(upc_threadof(locks[k]) == (size_t)(k % THREADS));
  }
  check_exclusion(locks, rounds);
  check_attempts(locks[1], rounds / 4);
  check_order(locks[2]);
  if (THREADS > 1) check_turn_of_others(locks[0]);
  check_many();
  NCUPC_BARRIER();
  for (int k = 0; k < 4; ++k) upc_all_lock_free(locks[k]);
  return verdict();
}
