/* SPDX-License-Identifier: BSD-3-Clause */
// Costs of the OpenSHMEM library: of a hit, of a call when caching is off, and of a call that has
// nothing to do.
//
// Hit: shmem_long_g of every element of a cached 4 KiB array on another PE, compared with plain
// loads from an array of this size, in alternating blocks. Off: shmem_long_g and shmem_long_p on
// this PE's own memory, where a call is cheapest, compared with the calls of the library below by
// their pshmem_ names. With --near, over shared memory, calls on another PE's heap in the same way.
// With --threads, measures only hits, by this many threads at once, each on
// its own processor, under SHMEM_THREAD_MULTIPLE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <shmem.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "nearcache/shmem.h"
#include "shmem/common/program.h"

// A block is long compared with the clock's resolution and short enough to be rarely interrupted; 4
// KiB stay in the first-level cache.
enum { ELEMENTS = 512, ROUNDS = 20, MOST_THREADS = 64 };

// Looked up by name, because Nearcache caches nothing for a program that itself calls pshmem_
// functions.
static long (*below_g)(const long* from, int pe);
static void (*below_p)(long* to, long value, int pe);
static long (*below_fetch)(long* word, int pe);
static void (*below_quiet)(void);

typedef double (*block)(long* array, int pe);  // returns nanoseconds per call

static _Thread_local volatile long used;  // keeps the compiler from eliminating the loops

static double per_call(double begin) {
  return 1e9 * (seconds_now() - begin) / (ELEMENTS * (double)ROUNDS);
}

// Defines a timed loop; ACCESS is one access to array[i] of `pe`.
#define BLOCK(name, ACCESS)                      \
  static double name(long* array, int pe) {      \
    (void)pe;                                    \
    long sum = 0;                                \
    double begin = seconds_now();                \
    for (int round = 0; round < ROUNDS; round++) \
      for (int i = 0; i < ELEMENTS; i++) ACCESS; \
    used = sum;                                  \
    return per_call(begin);                      \
  }

BLOCK(load, sum += *(volatile long*)&array[i])
BLOCK(get, sum += shmem_long_g(&array[i], pe))
BLOCK(get_below, sum += below_g(&array[i], pe))
BLOCK(put, shmem_long_p(&array[i], i, pe))
BLOCK(put_below, below_p(&array[i], i, pe))
BLOCK(fetch, sum += shmem_long_atomic_fetch_inc(&array[i], pe))
BLOCK(fetch_below, sum += below_fetch(&array[i], pe))
BLOCK(quiet, shmem_quiet())
BLOCK(quiet_below, below_quiet())

static void in_turn(const char* name_a, block a, const char* name_b, block b, long* array, int pe,
                    long blocks) {
  double* times = malloc((size_t)(2 * blocks) * sizeof(double));
  a(array, pe);
  b(array, pe);
  for (long i = 0; i < blocks; i++) {
    times[i] = a(array, pe);
    times[blocks + i] = b(array, pe);
  }
  json_doubles(name_a, times, blocks);
  json_doubles(name_b, times + blocks, blocks);
  free(times);
}

// Shared data of this PE's threads.
static struct {
  long *array, blocks, other;
  double* times;  // of every thread's blocks
  pthread_barrier_t begin;
} shared;

// Binds the calling thread to the given processor, counted among those that the process may use.
static void move_to(int number) {
  cpu_set_t allowed, one;
  CPU_ZERO(&one);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &allowed) && number-- == 0) CPU_SET(cpu, &one);
  if (CPU_COUNT(&one) != 0) pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void* hits_of_thread(void* argument) {
  const int thread = (int)(intptr_t)argument;
  move_to(thread);
  get(shared.array, (int)shared.other);
  pthread_barrier_wait(&shared.begin);
  for (long i = 0; i < shared.blocks; i++)
    shared.times[thread * shared.blocks + i] = get(shared.array, (int)shared.other);
  return NULL;
}

static void hits_of_threads(long* array, int other, long blocks, int threads) {
  pthread_t ids[MOST_THREADS];
  shared.array = array;
  shared.blocks = blocks;
  shared.other = other;
  shared.times = malloc((size_t)(threads * blocks) * sizeof(double));
  pthread_barrier_init(&shared.begin, NULL, (unsigned)threads);
  for (int i = 0; i < threads; i++)
    pthread_create(&ids[i], NULL, hits_of_thread, (void*)(intptr_t)i);
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  json_doubles("hit_ns", shared.times, threads * blocks);
  free(shared.times);
}

int main(int argc, char** argv) {
  long blocks = 1000, threads = 0, near = 0;
  options_read(
      argc, argv,
      (struct option[]){
          {"blocks", &blocks, false, "measured of each kind"},
          {"threads", &threads, false, "that measure hits at a time; 0: SHMEM_THREAD_SINGLE"},
          {"near", &near, true, "the other PE is reached by loads and stores"},
          {0},
      });
  int level = SHMEM_THREAD_SINGLE;
  if (threads == 0) {
    shmem_init();
  } else if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) != 0 ||
             level != SHMEM_THREAD_MULTIPLE || threads > MOST_THREADS) {
    shmem_global_exit(1);
  }
  *(void**)&below_g = dlsym(RTLD_DEFAULT, "pshmem_long_g");
  *(void**)&below_p = dlsym(RTLD_DEFAULT, "pshmem_long_p");
  *(void**)&below_fetch = dlsym(RTLD_DEFAULT, "pshmem_long_atomic_fetch_inc");
  *(void**)&below_quiet = dlsym(RTLD_DEFAULT, "pshmem_quiet");
  if (below_g == NULL || below_p == NULL || below_fetch == NULL || below_quiet == NULL)
    shmem_global_exit(1);
  int me = shmem_my_pe(), other = (me + 1) % shmem_n_pes();
  long* array = shmem_calloc(ELEMENTS, sizeof(long));
  json_begin("bench_shmem_hit");
  if (me != 0 && nice(19) == -1) errno = 0;  // PE 0 measures; the others must not disturb it
  if (me == 0 && threads > 0) {
    hits_of_threads(array, other, blocks, (int)threads);
  } else if (me == 0 && near) {
    if (shmem_ptr(array, other) == NULL) shmem_global_exit(1);
    in_turn("get_ns", get, "get_below_ns", get_below, array, other, blocks);
    in_turn("put_ns", put, "put_below_ns", put_below, array, other, blocks);
    in_turn("fetch_ns", fetch, "fetch_below_ns", fetch_below, array, other, blocks);
    in_turn("quiet_ns", quiet, "quiet_below_ns", quiet_below, array, other, blocks);
  } else if (me == 0) {
    if (nearcache_shmem_caching()) in_turn("hit_ns", get, "load_ns", load, array, other, blocks);
    in_turn("get_ns", get, "get_below_ns", get_below, array, me, blocks);
    in_turn("put_ns", put, "put_below_ns", put_below, array, me, blocks);
  }
  json_long("caching", nearcache_shmem_caching());  // last, as it creates the cache
  json_end(true);
  shmem_barrier_all();
  shmem_finalize();
  return 0;
}
