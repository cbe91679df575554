/* Words that are put one by one arrive whole: shmem_torn_words [rounds] [words].
 *
 * PE 0 puts one word after the other; PE 1 waits for each and checks that all of its bytes are
 * equal. Each PE has a partner. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_words = 4096 };
static long data[most_words + 16];
static long taken;

/* All bytes are equal, and differ from those of adjacent rounds. */
static long value_of(long round) { return (round % 127 + 1) * 0x0101010101010101L; }

static void write_words(long rounds, int words, int pe) {
  for (long round = 0; round < rounds; round++) {
    const int from = (int)(round % 16); /* splits fall on other words in each round */
    for (int i = 0; i < words; i++) shmem_long_p(&data[from + i], value_of(round), pe);
    shmem_quiet();
    shmem_long_wait_until(&taken, SHMEM_CMP_GT, round);
  }
}

/* How often a word had to be waited for: each time, a group of words that arrived together had
 * ended. */
static long waited;

static long read_words(long rounds, int words, int pe) {
  long torn = 0;
  for (long round = 0; round < rounds; round++) {
    const int from = (int)(round % 16);
    for (int i = 0; i < words; i++) {
      volatile long* word = &data[from + i];
      const long before = *word;
      if (before == value_of(round)) continue;
      waited++;
      shmem_long_wait_until(&data[from + i], SHMEM_CMP_NE, before);
      const long found = *word;
      if (found == value_of(round)) continue;
      if (torn++ < 5)
        printf("round %ld, word %d: %#lx between %#lx and %#lx\n", round, i, found, before,
               value_of(round));
      shmem_long_wait_until(&data[from + i], SHMEM_CMP_EQ, value_of(round));
    }
    shmem_long_p(&taken, round + 1, pe);
    shmem_quiet();
  }
  return torn;
}

int main(int argc, char** argv) {
  shmem_init();
  const long rounds = argc > 1 ? atol(argv[1]) : 100;
  const int words = argc > 2 ? atoi(argv[2]) : most_words;
  const int me = shmem_my_pe();
  long torn = 0;
  if (me == 0) {
    write_words(rounds, words, 1);
  } else if (me == 1) {
    torn = read_words(rounds, words, 0);
    printf("%s %ld of %ld words torn, %ld waited for\n", torn == 0 ? "ok" : "FAILED", torn,
           rounds * words, waited);
    fflush(stdout);
  }
  shmem_barrier_all();
  shmem_finalize();
  return torn != 0;
}
