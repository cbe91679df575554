// rand_puts: 30,000 puts at random places of a large array on the other PE; with --each every put is complete before the next.
//
// A language whose assignments are in program order makes a put and a quiet of each when it has no cache. With write-behind the puts
// overlap, and the order of what the program can see is kept all the same.
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "common/program.h"

static long place(long i, long n) { return (long)(mixed((unsigned long)i) % (unsigned long)n); }

static long value_of(long at) { return 5 * at + 7; }  // of the place only: it does not matter which of two puts there is the last

static bool written(const long* a, long n, long operations) {
  char* hit = calloc((size_t)n, 1);
  for (long i = 0; i < operations; i++) hit[place(i, n)] = 1;
  bool right = true;
  for (long at = 0; at < n; at++) right = right && a[at] == (hit[at] ? value_of(at) : 0);
  free(hit);
  return right;
}

int main(int argc, char** argv) {
  long n = 10000000, operations = 30000, each = 0;
  options_read(argc, argv, (struct option[]){
    {"n", &n, false, "elements of the array"},
    {"operations", &operations, false, "puts"},
    {"each", &each, true, "a quiet after each put, not only one at the end"},
    {0},
  });
  shmem_init();
  int me = shmem_my_pe(), target = 1 % shmem_n_pes();
  long* a = shmem_malloc((size_t)n * sizeof(long));
  if (me == target) memset(a, 0, (size_t)n * sizeof(long));
  shmem_barrier_all();

  double begin = seconds_now();
  if (me == 0)
    for (long i = 0; i < operations; i++) {
      long at = place(i, n);
      shmem_long_p(&a[at], value_of(at), target);
      if (each) shmem_quiet();
    }
  shmem_quiet();
  double seconds = seconds_now() - begin;
  shmem_barrier_all();

  bool correct = correct_everywhere(me != target || written(a, n, operations));
  json_begin("rand_puts");
  json_long("n", n);
  json_long("operations", operations);
  json_text("quiet", each ? "each" : "end");
  json_double("seconds", seconds);
  json_end(correct);
  shmem_finalize();
  return !correct;
}
