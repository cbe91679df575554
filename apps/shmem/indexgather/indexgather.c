/* SPDX-License-Identifier: BSD-3-Clause */
// indexgather: target[i] = table[index[i]], a random gather from a distributed table (after the
// bale suite).
//
// The table is small enough that parts of it are accessed repeatedly, and a cache line also brings
// in adjacent entries.
#include <shmem.h>
#include <stdlib.h>

#include "common/distributed.h"
#include "common/program.h"

static long entry(long i) { return (long)(mixed((unsigned long)i) >> 1); }

static void fill_index(long* index, long requests, long size) {
  for (long i = 0; i < requests; i++)
    index[i] = (long)(mixed((unsigned long)(i + shmem_my_pe() * requests)) % (unsigned long)size);
}

static bool gathered(const long* target, const long* index, long requests) {
  for (long i = 0; i < requests; i++)
    if (target[i] != entry(index[i])) return false;
  return true;
}

int main(int argc, char** argv) {
  long entries = 100000, requests = 200000, quick = 0;
  options_read(argc, argv,
               (struct option[]){
                   {"entries", &entries, false, "of the table on every PE"},
                   {"requests", &requests, false, "of every PE"},
                   {"quick", &quick, true, "4,000 requests to 1,000 entries on every PE"},
                   {0},
               });
  if (quick) entries = 1000, requests = 4000;
  shmem_init();
  long size = entries * shmem_n_pes();
  longs table = longs_new(size);
  for (long i = first_here(size); i < end_here(size); i++)
    table.part[i - first_here(size)] = entry(i);
  long* index = malloc((size_t)requests * sizeof(long));
  long* target = malloc((size_t)requests * sizeof(long));
  fill_index(index, requests, size);
  shmem_barrier_all();

  double begin = seconds_now();
  for (long i = 0; i < requests; i++) target[i] = long_at(table, index[i]);
  shmem_barrier_all();
  double seconds = seconds_now() - begin;

  bool correct = correct_everywhere(gathered(target, index, requests));
  json_begin("indexgather");
  json_long("entries", size);
  json_long("requests", requests * shmem_n_pes());
  json_double("seconds", seconds);
  json_end(correct);
  free(index);
  free(target);
  shmem_finalize();
  return !correct;
}
