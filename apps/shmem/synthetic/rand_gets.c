// rand_gets: 30,000 gets at random places of a large array on the other PE.
//
// Hardly an element is met twice, so a cache cannot help: what it adds to a get is measured here.
#include <shmem.h>

#include "common/program.h"

static long place(long i, long n) { return (long)(mixed((unsigned long)i) % (unsigned long)n); }

int main(int argc, char** argv) {
  long n = 10000000, operations = 30000;
  options_read(argc, argv, (struct option[]){
    {"n", &n, false, "elements of the array"},
    {"operations", &operations, false, "gets"},
    {0},
  });
  shmem_init();
  int me = shmem_my_pe(), target = 1 % shmem_n_pes();
  long* a = shmem_malloc((size_t)n * sizeof(long));
  if (me == target)
    for (long i = 0; i < n; i++) a[i] = 3 * i + 1;
  shmem_barrier_all();

  double begin = seconds_now();
  long sum = 0;
  if (me == 0)
    for (long i = 0; i < operations; i++) sum += shmem_long_g(&a[place(i, n)], target);
  double seconds = seconds_now() - begin;
  shmem_barrier_all();

  long expected = 0;
  for (long i = 0; i < operations; i++) expected += 3 * place(i, n) + 1;
  bool correct = correct_everywhere(me != 0 || sum == expected);
  json_begin("rand_gets");
  json_long("n", n);
  json_long("operations", operations);
  json_double("seconds", seconds);
  json_long("checksum", sum);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
