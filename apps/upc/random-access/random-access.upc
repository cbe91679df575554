/* SPDX-License-Identifier: BSD-3-Clause */
// random-access: exclusive ors at random locations in a table (after HPC Challenge's RandomAccess).
//
// An update is a read and a write, so concurrent updates of one word by two threads may get lost.
// HPC Challenge tolerates errors in one percent of the words, and lets each thread have up to 1,024
// updates in flight. The fence after every `window` updates keeps to that limit: between fences,
// relaxed reads may be served from data read earlier. With --atomic no update is lost.
#include <stdlib.h>
#include <upc_atomic.h>
#include <upc_relaxed.h>

#include "../common/program.h"

typedef uint64_t word;

static shared word *table;  // word i has affinity to thread i % THREADS; each thread has its own private copy of the pointer

// Returns the next element of the sequence: a polynomial over GF(2), multiplied by x modulo x^64 +
// x^2 + x + 1.
static word next_random(word random) { return random << 1 ^ ((int64_t)random < 0 ? 7 : 0); }

// Returns element n of the sequence in O(log n) steps: x^n by repeated squaring.
static word random_at(uint64_t n) {
  word squares[64], power = 1;
  for (int i = 0; i < 64; i++) {
    squares[i] = power;  // x^(2i)
    power = next_random(next_random(power));
  }
  if (n == 0) return 1;
  int bit = 63;
  while (!(n >> bit & 1)) bit--;
  word value = 2;  // x^1
  while (bit > 0) {
    word square = 0;  // squaring a polynomial doubles every exponent
    for (int i = 0; i < 64; i++)
      if (value >> i & 1) square ^= squares[i];
    value = square;
    if (n >> --bit & 1) value = next_random(value);
  }
  return value;
}

static void update_plain(uint64_t words, uint64_t first, long updates, long window) {
  word random = random_at(first);
  for (long k = 0; k < updates; k++) {
    random = next_random(random);
    table[random & (words - 1)] ^= random;
    if ((k + 1) % window == 0) upc_fence;
  }
}

static void update_atomic(uint64_t words, uint64_t first, long updates, upc_atomicdomain_t *domain) {
  word random = random_at(first);
  for (long k = 0; k < updates; k++) {
    random = next_random(random);
    upc_atomic_relaxed(domain, NULL, UPC_XOR, &table[random & (words - 1)], &random, NULL);
  }
}

// Undoes all threads' updates in this thread's part of the table, after which word i must be i
// again. Returns the number of words that are not.
static long wrong_words(uint64_t words, uint64_t first, long updates) {
  for (int thread = 0; thread < THREADS; thread++) {
    word random = random_at(first + (uint64_t)thread * (uint64_t)updates);
    for (long k = 0; k < updates; k++) {
      random = next_random(random);
      uint64_t at = random & (words - 1);
      if (upc_threadof(&table[at]) == (size_t)MYTHREAD) table[at] ^= random;
    }
  }
  long wrong = 0;
  uint64_t i;
  upc_forall(i = 0; i < words; i++; &table[i]) wrong += table[i] != i;
  return wrong;
}

int main(int argc, char **argv) {
  long log2_words = 18, updates = 0, window = 1024, by_atomics = 0, seed = 0;
  options_read(argc, argv, (struct choice[]){
    {"log2-words", &log2_words, false, "logarithm of the table's size"},
    {"updates", &updates, false, "of all threads together; 0: four for each word"},
    {"window", &window, false, "updates of a thread between two fences"},
    {"atomic", &by_atomics, true, "by upc_atomic: nothing is lost"},
    {"seed", &seed, false, "where in the sequence to begin"},
    {0},
  });
  if (log2_words > 30) log2_words = 30;
  if (window < 1) window = 1;
  uint64_t words = (uint64_t)1 << log2_words, i;
  long here = (updates ? updates : (long)(4 * words)) / THREADS;
  uint64_t first = (uint64_t)seed, my_first = first + (uint64_t)MYTHREAD * (uint64_t)here;
  table = upc_all_alloc(words, sizeof(word));
  upc_atomicdomain_t *domain = upc_all_atomicdomain_alloc(UPC_UINT64, UPC_XOR, 0);
  upc_forall(i = 0; i < words; i++; &table[i]) table[i] = i;
  upc_barrier;

  double begin = seconds_now();
  if (by_atomics)
    update_atomic(words, my_first, here, domain);
  else
    update_plain(words, my_first, here, window);
  upc_barrier;
  double seconds = seconds_now() - begin;

  long wrong = (long)sum_of_all((double)wrong_words(words, first, here));
  bool correct = by_atomics ? wrong == 0 : 100 * (uint64_t)wrong <= words;
  json_begin("random-access");
  json_text("update", by_atomics ? "atomic" : "read and write");
  json_long("words", (long)words);
  json_long("updates", here * THREADS);
  json_long("wrong_words", wrong);
  json_double("wrong_percent", 100 * (double)wrong / (double)words);
  json_double("seconds", seconds);
  json_double("gups", 1e-9 * (double)(here * THREADS) / seconds);
  json_end(correct);
  upc_all_atomicdomain_free(domain);
  upc_all_free(table);
  return !correct;
}
