/* SPDX-License-Identifier: BSD-3-Clause */
// stream-triad: a[i] = b[i] + alpha * c[i] over arrays distributed element by element (after
// McCalpin's STREAM and HPC Challenge).
//
// Compares the bandwidth of three ways to write the same loop: through pointers to shared; through
// private pointers, which a thread may use for its own elements; and with operands on the next
// thread, where the network limits the rate.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_relaxed.h>

#include "../common/program.h"

static const double alpha = 1.5;

shared double bandwidth[THREADS];  // MB/s of each thread

// Each element of the result is computed by the thread that owns it, which also owns its operands.
static void triad_shared(shared double *a, shared double *b, shared double *c, long size) {
  long i;
  upc_forall(i = 0; i < size; i++; &a[i]) a[i] = b[i] + alpha * c[i];
}

// The operands are one element further on, and therefore on the next thread.
static void triad_remote(shared double *a, shared double *b, shared double *c, long size) {
  long i;
  upc_forall(i = 0; i < size; i++; &a[i]) a[i] = b[(i + 1) % size] + alpha * c[(i + 1) % size];
}

// The elements of one thread are contiguous in its memory.
static void triad_private(shared double *a, shared double *b, shared double *c, long size) {
  double *my_a = (double *)&a[MYTHREAD], *my_b = (double *)&b[MYTHREAD], *my_c = (double *)&c[MYTHREAD];
  long mine = (size - MYTHREAD + THREADS - 1) / THREADS;
  for (long k = 0; k < mine; k++) my_a[k] = my_b[k] + alpha * my_c[k];
}

static bool is_right(shared double *a, long size, long shift) {
  bool right = true;
  long i;
  upc_forall(i = 0; i < size; i++; &a[i]) {
    long from = (i + shift) % size;
    right = right && a[i] == (double)(from % 1000) + alpha * (double)(from % 77);
    a[i] = -1;  // so that the check finds elements that the next way does not write
  }
  return right;
}

int main(int argc, char **argv) {
  long size = 1000000, iterations = 10, remote_size = 50000;
  options_read(argc, argv, (struct choice[]){
    {"size", &size, false, "elements of an array"},
    {"remote-size", &remote_size, false, "elements where operands lie on the next thread"},
    {"iterations", &iterations, false, "of each way; the best one counts"},
    {0},
  });
  if (size < THREADS) size = THREADS;
  if (remote_size > size) remote_size = size;
  if (remote_size < THREADS) remote_size = THREADS;
  shared double *a = upc_all_alloc(size, sizeof(double));
  shared double *b = upc_all_alloc(size, sizeof(double));
  shared double *c = upc_all_alloc(size, sizeof(double));
  long i;
  upc_forall(i = 0; i < size; i++; &b[i]) {
    a[i] = -1;
    b[i] = (double)(i % 1000);
    c[i] = (double)(i % 77);
  }
  upc_barrier;

  bool correct = true;
  double all_seconds = 0;
  json_begin("stream-triad");
  json_long("size", size);
  for (int way = 0; way < 3; way++) {
    const char *name[] = {"shared_mb_s", "private_mb_s", "remote_mb_s"};
    long elements = way == 2 ? remote_size : size, shift = way == 2 ? 1 : 0;
    double best = 0;
    for (long k = 0; k < iterations; k++) {
      upc_barrier;
      double begin = seconds_now();
      if (way == 0)
        triad_shared(a, b, c, elements);
      else if (way == 1)
        triad_private(a, b, c, elements);
      else
        triad_remote(a, b, c, elements);
      double took = seconds_now() - begin;
      all_seconds += took;
      double rate = 3e-6 * sizeof(double) * (double)(elements / THREADS) / took;
      if (rate > best) best = rate;
    }
    bandwidth[MYTHREAD] = best;
    upc_barrier;
    json_doubles(name[way], bandwidth, THREADS);
    if (iterations) correct = is_right(a, elements, shift) && correct;
    upc_barrier;
  }
  all_seconds = largest_of_all(all_seconds);
  correct = correct_everywhere(correct);
  json_double("seconds", all_seconds);
  json_end(correct);
  upc_all_free(a);
  upc_all_free(b);
  upc_all_free(c);
  return !correct;
}
