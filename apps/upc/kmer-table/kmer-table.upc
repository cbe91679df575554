/* SPDX-License-Identifier: BSD-3-Clause */
// kmer-table: counts the words of length k in pieces of a random genome, in a hash table shared
// by all threads.
//
// Buckets are distributed over the threads. The thread that inserts an entry allocates it in its
// own memory and links it into the chain with a pointer to shared. One lock guards a stripe of
// buckets; it also orders the accesses, so reads under the lock return the latest values. After the
// table has been built it is only read, without locks.
#include <stdlib.h>
#include <upc_relaxed.h>

#include "../common/program.h"

typedef struct entry {
  uint64_t kmer;
  long count;
  shared [] struct entry *next;
} entry;

typedef shared [] entry *chain;

enum { STRIPES = 64 };  // per thread

shared chain *buckets;                 // bucket b has affinity to thread b % THREADS
upc_lock_t *shared stripes[STRIPES * THREADS];
static long bucket_count, k, genome_length, pieces, piece_length, seed;

static unsigned base_at(long position) { return mixed((uint64_t)(seed * 1000003 + position)) & 3; }

// Returns the position where the piece begins; pieces overlap, so many words occur more than
// once.
static long piece_begin(long piece) {
  return (long)(mixed(~(uint64_t)(seed * 7919 + piece)) % (uint64_t)(genome_length - piece_length + 1));
}

// Calls visit(kmer) for every word of a piece, with two bits per base.
static void each_kmer(long piece, void (*visit)(uint64_t)) {
  uint64_t kmer = 0, mask = ((uint64_t)1 << 2 * k) - 1;
  long begin = piece_begin(piece);
  for (long i = 0; i < piece_length; i++) {
    kmer = (kmer << 2 | base_at(begin + i)) & mask;
    if (i >= k - 1) visit(kmer);
  }
}

static long bucket_of(uint64_t kmer) { return (long)(mixed(kmer) % (uint64_t)bucket_count); }

static chain find(chain at, uint64_t kmer) {
  while (at != NULL && at->kmer != kmer) at = at->next;
  return at;
}

static void insert(uint64_t kmer) {
  long bucket = bucket_of(kmer);
  upc_lock_t *lock = stripes[bucket % (STRIPES * THREADS)];
  upc_lock(lock);
  chain found = find(buckets[bucket], kmer);
  if (found != NULL) {
    found->count++;
  } else {
    found = upc_alloc(sizeof(entry));
    found->kmer = kmer;
    found->count = 1;
    found->next = buckets[bucket];
    buckets[bucket] = found;
  }
  upc_unlock(lock);
}

static long in_table(uint64_t kmer) {
  chain found = find(buckets[bucket_of(kmer)], kmer);
  return found == NULL ? 0 : found->count;
}

static long looked_up, seen_sum;

static void look_up(uint64_t kmer) {
  looked_up++;
  seen_sum += in_table(kmer);
}

// The reference: all words of all pieces in a private array, sorted.
static uint64_t *all_kmers;
static long all_count;

static void remember(uint64_t kmer) { all_kmers[all_count++] = kmer; }

static int in_order(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

// Every thread checks its share of the distinct words. Returns the number of wrong counts; sets
// *distinct to the number of distinct words.
static long wrong_counts(long *distinct) {
  all_kmers = malloc((size_t)(pieces * piece_length) * sizeof(uint64_t));
  for (long piece = 0; piece < pieces; piece++) each_kmer(piece, remember);
  qsort(all_kmers, (size_t)all_count, sizeof(uint64_t), in_order);
  long wrong = 0;
  *distinct = 0;
  for (long begin = 0, end; begin < all_count; begin = end) {
    for (end = begin + 1; end < all_count && all_kmers[end] == all_kmers[begin];) end++;
    if ((*distinct)++ % THREADS == MYTHREAD) wrong += in_table(all_kmers[begin]) != end - begin;
  }
  free(all_kmers);
  return wrong;
}

// Returns the number of entries in this thread's buckets, wherever they are stored; frees them if
// `release` is set.
static long entries(bool release) {
  long count = 0, b;
  upc_forall(b = 0; b < bucket_count; b++; &buckets[b]) {
    for (chain at = buckets[b], next; at != NULL; at = next) {
      next = at->next;
      count++;
      if (release) upc_free(at);
    }
  }
  return count;
}

int main(int argc, char **argv) {
  k = 15, bucket_count = 4096, genome_length = 4000, pieces = 200, piece_length = 60;
  options_read(argc, argv, (struct choice[]){
    {"k", &k, false, "length of a word, at most 31"},
    {"buckets", &bucket_count, false, "of the table"},
    {"genome", &genome_length, false, "bases of the genome"},
    {"pieces", &pieces, false, "of the genome that are counted"},
    {"length", &piece_length, false, "of a piece"},
    {"seed", &seed, false, "of the random genome"},
    {0},
  });
  if (k < 1 || k > 31 || bucket_count < 1 || genome_length < piece_length) {
    json_begin("kmer-table");
    json_end(false);
    return 2;
  }
  buckets = upc_all_alloc((size_t)bucket_count, sizeof(chain));
  int s;
  upc_forall(s = 0; s < STRIPES * THREADS; s++; &stripes[s]) stripes[s] = upc_global_lock_alloc();
  long b;
  upc_forall(b = 0; b < bucket_count; b++; &buckets[b]) buckets[b] = NULL;
  upc_barrier;

  double begin = seconds_now();
  for (long piece = MYTHREAD; piece < pieces; piece += THREADS) each_kmer(piece, insert);
  upc_barrier;
  double built = seconds_now();
  for (long piece = MYTHREAD; piece < pieces; piece += THREADS) each_kmer(piece, look_up);
  upc_barrier;
  double end = seconds_now();

  long distinct = 0;
  double wrong = sum_of_all((double)wrong_counts(&distinct)), in_buckets = sum_of_all((double)entries(false));
  double looked = sum_of_all((double)looked_up), seen = sum_of_all((double)seen_sum);
  bool correct = wrong == 0 && in_buckets == (double)distinct;
  json_begin("kmer-table");
  json_long("k", k);
  json_long("words", (long)looked);
  json_long("distinct", distinct);
  json_double("mean_count", looked > 0 ? seen / looked : 0);
  json_long("wrong_counts", (long)wrong);
  json_double("insert_seconds", built - begin);
  json_double("lookup_seconds", end - built);
  json_double("seconds", end - begin);
  json_end(correct);
  upc_barrier;
  entries(true);
  upc_barrier;
  upc_forall(s = 0; s < STRIPES * THREADS; s++; &stripes[s]) upc_lock_free(stripes[s]);
  upc_all_free(buckets);
  return !correct;
}
