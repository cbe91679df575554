// Waits and polls: a PE's writes reach their target before the PE waits for an answer, and changes
// of polled data are seen.
#include "contract.h"

enum { rounds = 40 };

// PE 0 sends PE 1 a request by a put that nothing completes, and waits for the answer in `wait`; PE
// 1 answers in the same way. Then with the roles exchanged.
static void ask_and_answer(void (*wait)(long* flag, long value)) {
  clean();
  for (long round = 1; round <= rounds; ++round) {
    const int asks = round % 2, answers = 1 - asks;
    if (me == asks) {
      shmem_long_p(&flags[0], round, answers);
      wait(&flags[1], round);
    } else if (me == answers) {
      wait(&flags[0], round);
      shmem_long_p(&flags[1], round, asks);
    }
    shmem_barrier_all();
  }
}

static void until(long* flag, long value) { shmem_long_wait_until(flag, SHMEM_CMP_EQ, value); }
// Each PE's flag is set in every second round.
static void until_not(long* flag, long value) {
  shmem_long_wait_until(flag, SHMEM_CMP_NE, value > 2 ? value - 2 : 0);
}
static void test_loop(long* flag, long value) {
  while (!shmem_long_test(flag, SHMEM_CMP_EQ, value))
    if (over_tcp()) progress();
}
static void fetch_loop(long* flag, long value) {
  while (shmem_long_atomic_fetch(flag, me) != value)
    if (over_tcp()) progress();
}

static void own_g_loop(long* flag, long value) {
  while (shmem_long_g(flag, me) != value)
    if (over_tcp()) progress();
}

static void a_question_before_wait_until(void) { ask_and_answer(until); }
static void a_question_before_wait_until_not_equal(void) { ask_and_answer(until_not); }
static void a_question_before_a_loop_of_tests(void) { ask_and_answer(test_loop); }
static void a_question_before_a_loop_of_fetches(void) { ask_and_answer(fetch_loop); }
static void a_question_before_a_loop_of_gets_of_own_memory(void) { ask_and_answer(own_g_loop); }

// PE 1 enters the collective only when it has received PE 0's put.
static void ask_before(void (*collective)(void)) {
  clean();
  for (long round = 1; round <= rounds; ++round) {
    if (me == 0) shmem_long_p(&flags[0], round, 1);
    if (me == 1) shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
    collective();
  }
  shmem_barrier_all();
}

static long from[most_pes], to[most_pes * most_pes], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8];
static void sync_some(void) { shmem_sync(0, 0, pes, sync_words); }
static void barrier_some(void) { shmem_barrier(0, 0, pes, sync_words); }
static void broadcast_one(void) {
  shmem_broadcast64(to, from, 1, 1, 0, 0, pes, sync_words);
  shmem_sync_all();
}
static void sum_one(void) {
  shmem_long_sum_to_all(to, from, 1, 0, 0, pes, work, sync_words);
  shmem_sync_all();
}
static void collect_one(void) {
  shmem_fcollect64(to, from, 1, 0, 0, pes, sync_words);
  shmem_sync_all();
}

static void a_question_before_sync_all(void) { ask_before(shmem_sync_all); }
static void a_question_before_sync(void) { ask_before(sync_some); }
static void a_question_before_barrier_all(void) { ask_before(shmem_barrier_all); }
static void a_question_before_barrier(void) { ask_before(barrier_some); }
static void a_question_before_broadcast(void) { ask_before(broadcast_one); }
static void a_question_before_a_sum(void) { ask_before(sum_one); }
static void a_question_before_fcollect(void) { ask_before(collect_one); }

// PE 1 waits in the block that PE 0 is freeing.
static void a_question_before_its_block_is_freed(void) {
  for (int round = 0; round < rounds; ++round) {
    long* flag = shmem_calloc(1, sizeof *flag);
    shmem_barrier_all();  // Open MPI 4.1.4 zeroes its block after the barrier of the allocation
    if (me == 0) shmem_long_p(flag, 1, 1);
    if (me == 1) shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
    shmem_free(flag);
  }
}

// The answer goes to a third PE's memory (or PE 1's own), where PE 0 looks for it by gets.
static void ask_and_poll(long (*look)(long*, int)) {
  clean();
  const int where = pes - 1;
  long* answer = (long*)data;
  for (long round = 1; round <= 10; ++round) {
    if (me == 0) {
      shmem_long_p(&flags[0], round, 1);
      while (look(answer, where) != round) continue;
    } else if (me == 1) {
      shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, round);
      shmem_long_p(answer, round, where);
      shmem_quiet();
    }
    shmem_barrier_all();
  }
}
static long look_by_g(long* word, int pe) { return shmem_long_g(word, pe); }
static long look_by_get(long* word, int pe) {
  long value;
  shmem_getmem(&value, word, sizeof value, pe);
  return value;
}
static long look_by_nbi(long* word, int pe) {
  long value;
  shmem_long_get_nbi(&value, word, 1, pe);
  shmem_quiet();
  return value;
}
static long look_by_fetch(long* word, int pe) { return shmem_long_atomic_fetch(word, pe); }
static void a_question_before_polling_by_g(void) { ask_and_poll(look_by_g); }
static void a_question_before_polling_by_get(void) { ask_and_poll(look_by_get); }
static void a_question_before_polling_by_get_nbi(void) { ask_and_poll(look_by_nbi); }
static void a_question_before_polling_by_atomic_fetch(void) { ask_and_poll(look_by_fetch); }

// PE 1 stores to a word of its own; PE 0, which reads it repeatedly, must see the change within 100
// gets that began after it. The time is taken after the store: PE 1 may lose its processor between
// the two while PE 0 keeps polling.
static void poll(long* places[], int count) {
  clean();
  enum { kept = 4096, settled = 200 };
  static long began[kept];
  long *const polls_so_far = &flags[1], *const stored = &flags[2];
  for (long round = 1; round <= 5; ++round) {
    if (me == 0) {
      long polls = 0, found = 0;
      do {
        began[polls % kept] = now_ns();
        for (int i = 0; i + 1 < count; ++i) shmem_long_g(places[i], 1);
        found = shmem_long_g(places[count - 1], 1);
        *(volatile long*)polls_so_far = ++polls;
      } while (found != round);
      shmem_barrier_all();
      const long then = shmem_long_atomic_fetch(stored, 1);
      long late = 0;
      for (long i = polls > kept ? polls - kept : 0; i < polls; ++i) late += began[i % kept] > then;
      if (late > 100) fail("%ld polls after the change did not see it", late);
      *polls_so_far = 0;
    } else if (me == 1) {
      while (shmem_long_atomic_fetch(polls_so_far, 0) < settled)
        if (over_tcp()) progress();  // over shared memory PE 0's polls would not answer
      *(volatile long*)places[count - 1] = round;
      *(volatile long*)stored = now_ns();
      shmem_barrier_all();
    } else {
      shmem_barrier_all();
    }
    // The library's barrier alone is not enough: PE 1 must progress others' transfers while it is
    // polled.
    shmem_barrier_all();
  }
}
static void polls_of_a_word(void) { poll((long*[]){(long*)heap + 8}, 1); }
static void polls_of_two_words_of_a_line(void) {
  poll((long*[]){(long*)heap + 8, (long*)heap + 9}, 2);
}
static void polls_of_three_words_of_three_pages(void) {
  poll((long*[]){(long*)heap, (long*)(heap + 8000), (long*)(heap + 16000)}, 3);
}

// PE 0 puts a value and then polls it; its owner changes it once more.
static void polls_of_what_was_put(void) {
  clean();
  long* word = (long*)heap;
  for (long round = 1; round <= 10; ++round) {
    if (me == 0) {
      shmem_long_p(word, round, 1);
      while (shmem_long_g(word, 1) != -round) continue;
    } else if (me == 1) {
      shmem_long_wait_until(word, SHMEM_CMP_EQ, round);
      *(volatile long*)word = -round;
    }
    shmem_barrier_all();
  }
}

static void locks_guard_what_is_read_and_written(void) {
  static long lock;
  clean();
  long *counter = (long*)data, *shadow = (long*)heap;
  for (int i = 0; i < rounds; ++i) {
    shmem_set_lock(&lock);
    const long value = shmem_long_g(counter, 0);
    CHECK_EQUAL(shmem_long_g(shadow, pes - 1), value);
    shmem_long_p(counter, value + 1, 0);
    shmem_long_p(shadow, value + 1, pes - 1);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(counter, 0), (long)rounds * pes);
}

static void tried_locks_guard_what_is_read_and_written(void) {
  static long lock;
  clean();
  long* counter = (long*)data;
  for (int i = 0; i < rounds / 2; ++i) {
    while (shmem_test_lock(&lock) != 0) progress();
    shmem_long_p(counter, shmem_long_g(counter, 1) + 1, 1);
    shmem_clear_lock(&lock);
  }
  shmem_barrier_all();
  CHECK_EQUAL(shmem_long_g(counter, 1), (long)(rounds / 2) * pes);
}

// What was read from a collective's target before the call is not served after it.
static void results_of_collectives_are_seen_at_other_pes(void) {
  clean();
  for (long round = 1; round <= 10; ++round) {
    for (int pe = 0; pe < pes; ++pe) shmem_long_g(&to[0], pe);
    for (int i = 0; i < pes; ++i)
      shmem_long_p(&from[0], round * 10 + (me + 1) % pes, (me + 1) % pes);
    shmem_barrier_all();
    shmem_long_sum_to_all(to, from, 1, 0, 0, pes, work, sync_words);
    shmem_sync_all();
    for (int pe = 0; pe < pes; ++pe)
      CHECK_EQUAL(shmem_long_g(&to[0], pe), round * 10 * pes + pes * (pes - 1) / 2);
    shmem_barrier_all();
  }
}

const struct test_case wait_cases[] = {
    {"a_question_before_wait_until", a_question_before_wait_until},
    {"a_question_before_wait_until_not_equal", a_question_before_wait_until_not_equal},
    {"a_question_before_a_loop_of_tests", a_question_before_a_loop_of_tests},
    {"a_question_before_a_loop_of_fetches", a_question_before_a_loop_of_fetches},
    {"a_question_before_a_loop_of_gets_of_own_memory",
     a_question_before_a_loop_of_gets_of_own_memory},
    {"a_question_before_sync_all", a_question_before_sync_all},
    {"a_question_before_sync", a_question_before_sync},
    {"a_question_before_barrier_all", a_question_before_barrier_all},
    {"a_question_before_barrier", a_question_before_barrier},
    {"a_question_before_broadcast", a_question_before_broadcast},
    {"a_question_before_a_sum", a_question_before_a_sum},
    {"a_question_before_fcollect", a_question_before_fcollect},
    {"a_question_before_its_block_is_freed", a_question_before_its_block_is_freed},
    {"a_question_before_polling_by_g", a_question_before_polling_by_g},
    {"a_question_before_polling_by_get", a_question_before_polling_by_get},
    {"a_question_before_polling_by_get_nbi", a_question_before_polling_by_get_nbi},
    {"a_question_before_polling_by_atomic_fetch", a_question_before_polling_by_atomic_fetch},
    {"polls_of_a_word", polls_of_a_word},
    {"polls_of_two_words_of_a_line", polls_of_two_words_of_a_line},
    {"polls_of_three_words_of_three_pages", polls_of_three_words_of_three_pages},
    {"polls_of_what_was_put", polls_of_what_was_put},
    {"locks_guard_what_is_read_and_written", locks_guard_what_is_read_and_written},
    {"tried_locks_guard_what_is_read_and_written", tried_locks_guard_what_is_read_and_written},
    {"results_of_collectives_are_seen_at_other_pes", results_of_collectives_are_seen_at_other_pes},
};
const size_t wait_case_count = sizeof wait_cases / sizeof *wait_cases;
