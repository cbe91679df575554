// What docs/semantics-openshmem.md promises of OpenSHMEM calls, case by case, on 2 to 7 PEs.
//
// shmem_contract [PREFIX ...]    runs the cases whose names begin with a prefix
// shmem_contract [-PREFIX ...]   runs the others
#include "contract.h"

#include <time.h>

unsigned char* heap;
unsigned char data[room];
long* flags;
long scratch_word;
long sync_words[SHMEM_REDUCE_SYNC_SIZE];

static unsigned char byte_of(size_t i, int seed) {
  return (unsigned char)(seed * 59 + (int)i * 7 + (int)(i >> 8) * 3);
}

void fill(unsigned char* bytes, size_t count, int seed) {
  for (size_t i = 0; i < count; ++i) bytes[i] = byte_of(i, seed);
}

void check_bytes(int line, const unsigned char* bytes, size_t count, int seed) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] == byte_of(i, seed)) continue;
    return fail("line %d: byte %zu of %zu is %d, not %d", line, i, count, bytes[i],
                byte_of(i, seed));
  }
}

void clean(void) {
  shmem_barrier_all();
  memset(heap, 0, room);
  memset(data, 0, room);
  memset(flags, 0, most_pes * sizeof *flags);
  shmem_barrier_all();
}

long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

void progress(void) {
  static unsigned char bytes[5000];
  shmem_getmem(bytes, data, sizeof bytes, (me + 1) % pes);  // bypasses any cache
}

int over_tcp(void) {
  const char* network = getenv("UCX_TLS");
  return network != NULL && strncmp(network, "tcp", 3) == 0;
}

static int is_chosen(const char* name, int words, char** prefixes) {
  int others = 1;
  for (int i = 0; i < words; ++i) {
    const int excepted = prefixes[i][0] == '-';
    const char* prefix = prefixes[i] + excepted;
    if (strncmp(name, prefix, strlen(prefix)) == 0) return !excepted;
    others = others && excepted;
  }
  return others;
}

static void run(const struct test_case* cases, size_t count, int words, char** prefixes) {
  for (size_t i = 0; i < count; ++i)
    if (is_chosen(cases[i].name, words, prefixes)) run_cases(cases + i, 1, NULL);
}

int main(int argc, char** argv) {
  check_start();
  if (pes < 2 || pes >= most_pes) return 2;
  heap = shmem_malloc(room);
  flags = shmem_calloc(most_pes, sizeof *flags);
  for (size_t i = 0; i < sizeof sync_words / sizeof *sync_words; ++i)
    sync_words[i] = SHMEM_SYNC_VALUE;
  run(order_cases, order_case_count, argc - 1, argv + 1);
  run(wait_cases, wait_case_count, argc - 1, argv + 1);
  run(memory_cases, memory_case_count, argc - 1, argv + 1);
  run(context_cases, context_case_count, argc - 1, argv + 1);
  shmem_free(flags);
  shmem_free(heap);
  return check_end();
}
