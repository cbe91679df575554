// Threads that share the default context under SHMEM_THREAD_MULTIPLE: what one thread completes is
// complete for all, and each finds its own writes, whatever the others do to adjacent bytes, to the
// cache's pages and to what is in flight. An acquire by one is an acquire for all: nothing read
// before it is served after it.
//
// shmem_threads SEED ROUNDS
#include <pthread.h>

#include "check.h"

enum { threads = 4, bytes = 4000, accesses = 150, stamps = 20 };

static unsigned char* memory;  // symmetric
// of the next PE's memory: byte i belongs to thread i % threads
static unsigned char known[bytes];
// symmetric: the last round that the previous PE has finished
static long* arrived;
// symmetric: the round that this PE has reached
static long stamp[stamps];
static int other;
static pthread_barrier_t together;
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
static uint64_t seed;
static long rounds;

static int draw(uint64_t* state, int limit) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (int)(*state >> 33) % limit;
}

// Called after an acquire by one of the threads.
static void read_stamps(long round) {
  for (int i = 0; i < stamps; ++i) {
    const long found = shmem_long_g(&stamp[i], other);
    if (found == round) continue;
    pthread_mutex_lock(&telling);
    fail("stamp %d is %ld, not %ld", i, found, round);
    pthread_mutex_unlock(&telling);
  }
}

static void tell(const char* what, int at, int found) {
  pthread_mutex_lock(&telling);
  fail("%s: byte %d is %d, not %d", what, at, found, known[at]);
  pthread_mutex_unlock(&telling);
}

// Writes single bytes of this thread from `at` on, `threads` apart.
static void write_bytes(uint64_t* state, int at) {
  unsigned char values[8];
  int count = 1 + draw(state, 8);
  if (at + threads * (count - 1) >= bytes) count = 1;
  for (int i = 0; i < count; ++i)
    known[at + threads * i] = values[i] = (unsigned char)draw(state, 256);
  if (count > 1 && draw(state, 2) == 0) {
    shmem_char_iput((char*)memory + at, (const char*)values, threads, 1, (size_t)count, other);
  } else {
    for (int i = 0; i < count; ++i) shmem_uchar_p(memory + at + threads * i, values[i], other);
  }
}

// Also reads others' bytes, which may be old or new.
static void read_bytes(uint64_t* state, int at) {
  unsigned char values[300];
  int length = 1 + draw(state, draw(state, 4) == 0 ? 300 : 40);
  if (at + length > bytes) length = bytes - at;
  shmem_getmem(values, memory + at, (size_t)length, other);
  for (int i = 0; i < length; i += threads)
    if (values[i] != known[at + i]) return tell("a get", at + i, values[i]);
}

static void one_access(uint64_t* state, int thread) {
  const int at = draw(state, (draw(state, 2) == 0 ? 200 : bytes) / threads) * threads + thread;
  switch (draw(state, 16)) {
    case 0:
      shmem_quiet();
      break;
    case 1:
      shmem_fence();
      break;
    case 2:
      nearcache_shmem_prefetch(memory + at, 500, other);
      break;
    case 3:
      nearcache_shmem_acquire();
      break;
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      read_bytes(state, at);
      break;
    default:
      write_bytes(state, at);
  }
}

static void* work(void* argument) {
  const int thread = (int)(intptr_t)argument;
  uint64_t state = seed * 977 + (uint64_t)(me * threads + thread) * 31 + 5;
  for (long round = 1; round <= rounds; ++round) {
    for (int i = 0; i < accesses; ++i) one_access(&state, thread);
    pthread_barrier_wait(&together);
    if (thread == 0) {
      shmem_quiet();  // for all threads' writes
      shmem_long_p(arrived, round, other);
      shmem_long_wait_until(arrived, SHMEM_CMP_GE, round);
    }
    pthread_barrier_wait(&together);
    for (int i = 0; i < 5; ++i)
      read_bytes(&state, draw(&state, bytes / threads) * threads + thread);
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    if (thread == 0) {
      for (int i = 0; i < stamps; ++i) stamp[i] = round;
      shmem_barrier_all();  // an acquire for all threads
    }
    pthread_barrier_wait(&together);
    read_stamps(round);
  }
  return NULL;
}

// Compares this PE's memory with what the previous PE knows that it wrote here.
static void compare_own_memory(void) {
  unsigned char* given = shmem_malloc(bytes);
  shmem_putmem(given, known, bytes, other);
  shmem_barrier_all();
  for (int i = 0; i < bytes; ++i)
    if (memory[i] != given[i]) fail("byte %d of this PE is %d, not %d", i, memory[i], given[i]);
  shmem_free(given);
}

int main(int argc, char** argv) {
  check_start_threaded();
  if (argc != 3) return 2;
  current = "threads on one context";
  seed = strtoull(argv[1], NULL, 10);
  rounds = atol(argv[2]);
  other = (me + 1) % pes;
  memory = shmem_calloc(bytes, 1);
  arrived = shmem_calloc(1, sizeof *arrived);
  shmem_barrier_all();
  pthread_barrier_init(&together, NULL, threads);
  pthread_t ids[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, work, (void*)(intptr_t)i);
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  shmem_barrier_all();
  compare_own_memory();
  if (failures == 0) printf("ok %s, seed %s, PE %d\n", current, argv[1], me);
  shmem_free(arrived);
  shmem_free(memory);
  return check_end();
}
