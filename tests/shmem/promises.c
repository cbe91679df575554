// Programs that keep the contract, and programs that break it, for option shmem_check: PE 0 reads a
// table of PE 1, which changes it, and reads it again after learning of the change in some way.
//
// shmem_promises WAY     a row of `ways`; prints `read OLD` or `read NEW`
#include <pthread.h>

#include "check.h"

// A table's halves are in pages of their own.
enum { half = 50, values = 7, page = 1024, second = page / 2, entries = second + half };

static long table[entries];  // symmetric, like the following
// From the heap, which needs no progress over shared memory; each in a page of its own.
static long *block, *ready, *go, *ticket, *unrelated;

static long loaded(const long* word) { return *(const volatile long*)word; }
static void progress(void) {
  static char bytes[5000];
  shmem_getmem(bytes, block, sizeof bytes, 1);  // bypasses any cache
}

// How PE 0 learns that PE 1 has written; the writer's side is the same for all ways.
static void by_polling(void) {
  while (shmem_long_g(ready, 1) == 0) {
  }
}
static void by_a_load(void) {
  while (loaded(ticket) == 0) progress();
}
static void by_a_relaxed_atomic(void) {
  nearcache_shmem_set_relaxed_atomics(1);
  while (shmem_long_atomic_fetch(ready, 1) == 0) {
  }
}
static void by_a_fence(void) {
  by_a_load();
  shmem_fence();
}
static void by_waiting(void) { shmem_long_wait_until(ticket, SHMEM_CMP_NE, 0); }
static void by_an_atomic(void) {
  while (shmem_long_atomic_fetch(ready, 1) == 0) {
  }
}
static void by_a_load_and_an_acquire(void) {
  by_a_load();
  nearcache_shmem_acquire();
}

// Uses two gets, of two pages: when many gets look like polling, the cache occasionally refetches
// one.
static void read_halves(long* into, const long* from) {
  shmem_long_get(into, from, half, 1);
  shmem_long_get(into + second, from + second, half, 1);
}
static void read_table(long* into) { read_halves(into, table); }
static void read_block(long* into) { read_halves(into, block); }
// Single words would look like more of the polling, which causes an occasional refetch; the reads
// before them do not.
static void read_words(long* into) {
  for (int at = 0; at < 60; ++at) into[2] = shmem_long_g(unrelated + 17 * at, 1);
  into[0] = shmem_long_g(&table[0], 1);
  into[1] = shmem_long_g(&table[second], 1);
}
static void read_nothing(long* into) { into[0] = loaded(ticket) == 0 ? 0 : values; }

static void* in_a_thread(void* reader) {
  static long into[entries];
  ((void (*)(long*))(intptr_t)reader)(into);
  return NULL;
}

static const struct {
  const char* name;
  void (*learn)(void);
  void (*read)(long*);
  int threads;
} ways[] = {
    {"polls", by_polling, read_table, 0},
    {"polls_for_a_block", by_polling, read_block, 0},
    {"polls_for_words", by_polling, read_words, 0},
    {"loads", by_a_load, read_table, 0},
    {"relaxes", by_a_relaxed_atomic, read_table, 0},
    {"fences", by_a_fence, read_table, 0},
    {"polls_in_threads", by_polling, read_table, 3},
    {"waits", by_waiting, read_table, 0},
    {"fetches", by_an_atomic, read_table, 0},
    {"acquires", by_a_load_and_an_acquire, read_block, 0},
    {"only_polls", by_polling, read_nothing, 0},
    {"waits_in_threads", by_waiting, read_table, 3},
};

static void write_and_tell(void) {
  shmem_long_wait_until(go, SHMEM_CMP_NE, 0);
  for (int i = 0; i < entries; ++i) table[i] = block[i] = values;
  shmem_long_p(ticket, 1, 0);
  shmem_quiet();
  shmem_long_atomic_set(ready, 1, 1);
}

// What another thread of this PE reads meanwhile is not checked, and never old. It reads at
// scattered places so that it does not seem to poll, which would cause refetches.
static void* read_along(void* stop) {
  long into[2 * half];
  for (int at = 0; !loaded(stop); at = (at + 37) % page) {
    shmem_long_get(into, unrelated + at, 2 * half, 1);
    shmem_long_put(unrelated + at, into, 1, 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  check_start_threaded();
  size_t way = 0;
  while (argc == 2 && way < sizeof ways / sizeof *ways && strcmp(ways[way].name, argv[1]) != 0)
    ++way;
  if (argc != 2 || way == sizeof ways / sizeof *ways || pes != 2) return 2;
  block = shmem_calloc(8 * page, sizeof *block);
  ready = block + page, go = ready + page, ticket = go + page, unrelated = ticket + 3 * page;
  shmem_barrier_all();
  if (me == 1) {
    write_and_tell();
  } else {
    long into[entries] = {0}, stop = 0;
    pthread_t along[4];
    for (int i = 0; i < ways[way].threads; ++i) pthread_create(&along[i], NULL, read_along, &stop);
    ways[way].read(into);
    ways[way].read(into);
    // so that it has polled, however quick PE 1 is
    for (int i = 0; i < 3 && ways[way].learn == by_polling; ++i) shmem_long_g(ready, 1);
    shmem_long_p(go, 1, 1);
    shmem_quiet();
    ways[way].learn();
    ways[way].read(into);
    printf("read %s\n", into[0] == values ? "NEW" : "OLD");
    if (ways[way].threads > 0) {  // reads of a thread count like those of any other
      pthread_t reader;
      pthread_create(&reader, NULL, in_a_thread, (void*)(intptr_t)ways[way].read);
      pthread_join(reader, NULL);
    }
    *(volatile long*)&stop = 1;
    for (int i = 0; i < ways[way].threads; ++i) pthread_join(along[i], NULL);
  }
  shmem_barrier_all();
  shmem_free(block);
  return check_end();
}
