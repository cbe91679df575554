/* Shared by the files of shmem_contract: the memory that they all use, and the ways in which PEs
 * synchronise. */
#ifndef NEARCACHE_TESTS_SHMEM_CONTRACT_H
#define NEARCACHE_TESTS_SHMEM_CONTRACT_H

#include "check.h"

enum { room = 16384, most_pes = 8 };

extern unsigned char* heap;      /* symmetric, from the heap */
extern unsigned char data[room]; /* symmetric, static */
/* Symmetric, at least one for each PE, 0 between cases. Allocated from the heap, which needs no
 * progress over shared memory. */
extern long* flags;
extern long scratch_word; /* symmetric, used by nothing else */
extern long sync_words[SHMEM_REDUCE_SYNC_SIZE];

/* Loads and stores of this PE's own memory that the compiler must not remove. */
static inline long load(const long* word) { return *(const volatile long*)word; }

void fill(unsigned char* bytes, size_t count, int seed);
void check_bytes(int line, const unsigned char* bytes, size_t count, int seed);
#define CHECK_BYTES(bytes, count, seed) check_bytes(__LINE__, bytes, count, seed)
/* Sets both areas and the flags of this PE to 0. Called by all PEs together. */
void clean(void);
long now_ns(void);
/* For loops of shmem_test: that of Open MPI 4.1.4 makes no progress, neither for this PE's
 * transfers nor for those of others. This call does, and does not synchronise. */
void progress(void);
int over_tcp(void);

extern const struct test_case order_cases[], wait_cases[], memory_cases[], context_cases[];
extern const size_t order_case_count, wait_case_count, memory_case_count, context_case_count;

#endif
