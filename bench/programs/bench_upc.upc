/* SPDX-License-Identifier: BSD-3-Clause */
// The cost of UPC over OpenSHMEM: upc_memget and upc_memput compared with shmem_getmem and
// shmem_putmem of the same bytes, in alternating calls; barriers; collectives; element-by-element
// loops over a remote array, which are what a cache is for; and a loop over own elements, compared
// with the same loop in C. Each run measures one of these (--what).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_atomic.h>
#include <upc_collective.h>
#include <upc_relaxed.h>

#include "../../apps/upc/common/program.h"
#include "bench_upc_raw.h"

enum { GET, PUT, PUT_ALONE, BARRIER, BROADCAST, REDUCE, SUM, FILL, COPY, HISTOGRAM, POLL, TRIAD, TRIAD_BLOCKED };

static long what = GET, size = 8, repetitions = 1000, elements = 100000;

static void print_times(const char *key, const double *times, long count) {
  if (MYTHREAD != 0) return;
  printf(", \"%s\": [", key);
  for (long i = 0; i < count; i++) printf("%s%.4g", i ? ", " : "", 1e9 * times[i]);
  printf("]");
}

// Transfers `size` bytes between `local` and the other thread, by UPC or by the OpenSHMEM below it,
// and returns the time in seconds. `far` and `symmetric` are the same memory: a pointer to shared,
// and the address that OpenSHMEM takes.
static double transfer(bool by_upc, shared [] char *far, void *symmetric, int other, char *local) {
  raw_forget();
  double begin = seconds_now();
  if (what == GET) {
    if (by_upc)
      upc_memget(local, far, (size_t)size);
    else
      raw_get(local, symmetric, (size_t)size, other);
    return seconds_now() - begin;
  }
  if (by_upc)
    upc_memput(far, local, (size_t)size);
  else
    raw_put(symmetric, local, (size_t)size, other);
  double put = seconds_now() - begin;
  if (by_upc)
    upc_fence;
  else
    raw_quiet();
  return what == PUT_ALONE ? put : seconds_now() - begin;
}

// UPC and OpenSHMEM take turns, and the order within each pair alternates.
static bool transfers(void) {
  int other = (MYTHREAD + 1) % THREADS;
  shared char *array = upc_all_alloc(THREADS, (size_t)size);
  shared [] char *far = (shared [] char *)&array[other];
  void *symmetric = (char *)&array[MYTHREAD];
  char *local = malloc((size_t)size);
  bool correct = true;
  memset(symmetric, MYTHREAD + 1, (size_t)size);
  memset(local, MYTHREAD + 1, (size_t)size);
  upc_barrier;
  if (MYTHREAD == 0) {
    double *times = malloc((size_t)(2 * repetitions) * sizeof(double));
    for (int i = 0; i < 6; i++) transfer(i & 1, far, symmetric, other, local);
    for (long i = 0; i < repetitions; i++) {
      bool first = i & 1;
      times[i + (first ? 0 : repetitions)] = transfer(first, far, symmetric, other, local);
      times[i + (first ? repetitions : 0)] = transfer(!first, far, symmetric, other, local);
    }
    print_times("upc_ns", times, repetitions);
    print_times("raw_ns", times + repetitions, repetitions);
    char expected = what == GET ? (char)(other + 1) : 1;
    for (long i = 0; i < size; i += size / 64 + 1) correct = correct && local[i] == expected && far[i] == expected;
    free(times);
  }
  upc_barrier;
  upc_all_free(array);
  free(local);
  return correct;
}

static bool collectives(void) {
  double *times = malloc((size_t)repetitions * sizeof(double));
  size_t count = (size_t)size / sizeof(double) + (size < (long)sizeof(double));
  shared double *from = upc_all_alloc(THREADS, count * sizeof(double));
  shared double *to = upc_all_alloc(THREADS, count * sizeof(double));
  double *mine = (double *)&from[MYTHREAD];
  for (size_t i = 0; i < count; i++) mine[i] = 1;
  upc_flag_t mode = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;
  bool correct = true;
  for (long i = -10; i < repetitions; i++) {  // the first ten are not counted
    upc_barrier;
    double begin = seconds_now();
    if (what == BROADCAST)
      upc_all_broadcast(to, from, count * sizeof(double), mode);
    else if (what == REDUCE)
      upc_all_reduceD(to, from, UPC_ADD, count * THREADS, count, NULL, mode);
    else
      upc_barrier;
    if (i >= 0) times[i] = seconds_now() - begin;
  }
  if (what == BROADCAST) correct = *(double *)&to[MYTHREAD] == 1;
  if (what == REDUCE && MYTHREAD == 0) correct = to[0] == (double)(count * THREADS);
  print_times("upc_ns", times, repetitions);
  upc_barrier;
  upc_all_free(from);
  upc_all_free(to);
  free(times);
  return correct;
}

// Both arrays are entirely on the other thread. The histogram performs a relaxed atomic for only
// one in sixteen elements that it reads, so that the reads matter as well.
static bool loops(double *seconds) {
  upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_LONG, UPC_INC | UPC_GET, 0);
  shared [] long *shared *arrays = upc_all_alloc(THREADS, sizeof(shared [] long *));
  arrays[MYTHREAD] = upc_alloc((size_t)(2 * elements) * sizeof(long));
  long *mine = (long *)arrays[MYTHREAD];
  for (long i = 0; i < elements; i++) {
    mine[i] = 3 * i;
    mine[elements + i] = 0;
  }
  upc_barrier;
  bool correct = true;
  if (MYTHREAD == 0) {
    shared [] long *from = arrays[1 % THREADS], *to = from + elements;
    long sum = 0;
    double begin = seconds_now();
    for (long i = 0; i < elements; i++) {
      if (what == SUM) sum += from[i];
      if (what == FILL) to[i] = 3 * i;
      if (what == COPY) to[i] = from[i];
      if (what == HISTOGRAM) {
        sum += from[i];
        if (i % 16 == 0) upc_atomic_relaxed(domain, NULL, UPC_INC, &to[i / 16 % 256], NULL, NULL);
      }
      if (what == POLL) sum += *(strict shared [] long *)from + 3 * i;
    }
    upc_fence;
    *seconds = seconds_now() - begin;
    if (what == FILL || what == COPY)
      for (long i = 0; i < elements; i++) sum += to[i];
    correct = sum == 3 * (elements * (elements - 1) / 2);
  }
  upc_barrier;
  upc_free(arrays[MYTHREAD]);
  upc_barrier;
  upc_all_free(arrays);
  upc_all_atomicdomain_free(domain);
  return correct;
}

enum { in_a_block = 1 << 12 };
typedef shared [in_a_block] double blocked;

// Computes a = b + alpha * c over this thread's `elements` elements: in arrays distributed one
// element at a time, in arrays distributed in blocks, or in plain C.
static double triad(bool by_upc, shared double *a, shared double *b, shared double *c, double alpha) {
  blocked *in_blocks_a = (blocked *)a, *in_blocks_b = (blocked *)b, *in_blocks_c = (blocked *)c;
  double begin = seconds_now();
  if (!by_upc)
    raw_triad((double *)&a[MYTHREAD], (double *)&b[MYTHREAD], (double *)&c[MYTHREAD], alpha, elements);
  else if (what == TRIAD)
    upc_forall (long i = 0; i < elements * THREADS; i++; &a[i]) a[i] = b[i] + alpha * c[i];
  else
    upc_forall (long i = 0; i < elements * THREADS; i++; &in_blocks_a[i])
      in_blocks_a[i] = in_blocks_b[i] + alpha * in_blocks_c[i];
  return seconds_now() - begin;
}

static bool triads(void) {
  elements = (elements + in_a_block - 1) / in_a_block * in_a_block;
  shared double *a = upc_all_alloc(THREADS, (size_t)elements * sizeof(double));
  shared double *b = upc_all_alloc(THREADS, (size_t)elements * sizeof(double));
  shared double *c = upc_all_alloc(THREADS, (size_t)elements * sizeof(double));
  double *my_a = (double *)&a[MYTHREAD], *my_b = (double *)&b[MYTHREAD], *my_c = (double *)&c[MYTHREAD];
  bool correct = true;
  for (long k = 0; k < elements; k++) {
    my_a[k] = 0;
    my_b[k] = k;
    my_c[k] = 1;
  }
  upc_barrier;
  if (MYTHREAD == 0) {
    double *times = malloc((size_t)(2 * repetitions) * sizeof(double));
    for (int i = 0; i < 6; i++) triad(i & 1, a, b, c, 0);
    for (long i = 0; i < repetitions; i++) {
      bool first = i & 1;
      times[i + (first ? 0 : repetitions)] = triad(first, a, b, c, 1 + 2 * i);
      times[i + (first ? repetitions : 0)] = triad(!first, a, b, c, 2 + 2 * i);
    }
    print_times("upc_ns", times, repetitions);
    print_times("raw_ns", times + repetitions, repetitions);
    free(times);
    triad(true, a, b, c, 7);
    for (long k = 0; k < elements; k++) correct = correct && my_a[k] == k + 7;
  }
  upc_barrier;
  for (long k = 0; k < elements && MYTHREAD != 0; k++) correct = correct && my_a[k] == 0;
  upc_all_free(a);
  upc_all_free(b);
  upc_all_free(c);
  return correct;
}

int main(int argc, char **argv) {
  options_read(argc, argv, (struct choice[]){
    {"what", &what, false, "0 get, 1 put and fence, 2 put, 3 barrier, 4 broadcast, 5 reduce, 6 sum, 7 fill, 8 copy, 9 histogram, 10 strict reads, 11 triad, 12 triad in blocks"},
    {"size", &size, false, "bytes of a transfer, or of a thread's part"},
    {"repetitions", &repetitions, false, "of a transfer or collective"},
    {"elements", &elements, false, "of an array that loops run over"},
    {0},
  });
  double seconds = 0;
  json_begin("bench_upc");
  json_long("caching", raw_caching());
  bool correct = what <= PUT_ALONE ? transfers() : what <= REDUCE ? collectives() : what <= POLL ? loops(&seconds) : triads();
  correct = correct_everywhere(correct);
  if (what >= SUM && what <= POLL) json_double("seconds", seconds);
  json_end(correct);
  return !correct;
}
