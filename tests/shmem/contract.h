/* What the files of shmem_contract share: memory that they all use, and the ways in which PEs
 * synchronise. */
#ifndef NEARCACHE_TESTS_SHMEM_CONTRACT_H
#define NEARCACHE_TESTS_SHMEM_CONTRACT_H

#include "check.h"

enum { room = 16384, most_pes = 8 };

extern unsigned char* heap;      /* symmetric, of the heap */
extern unsigned char data[room]; /* symmetric, static */
/* Symmetric, one for each PE and more, 0 between cases; of the heap, as over shared memory that
 * needs no progress. */
extern long* flags;
extern long scratch_word; /* symmetric, nobody's */
extern long sync_words[SHMEM_REDUCE_SYNC_SIZE];

/* Reads and writes of this PE's own memory that the compiler must make. */
static inline long load(const long* word) { return *(const volatile long*)word; }

void fill(unsigned char* bytes, size_t count, int seed);
void check_bytes(int line, const unsigned char* bytes, size_t count, int seed);
#define CHECK_BYTES(bytes, count, seed) check_bytes(__LINE__, bytes, count, seed)
/* Sets both areas of this PE to 0 and the flags too; all PEs together. */
void clean(void);
long now_ns(void);
/* For loops of shmem_test: Open MPI 4.1.4's moves no transfers, neither this PE's nor others'. This
 * does, and is no synchronisation. */
void progress(void);
int over_tcp(void);

extern const struct test_case order_cases[], wait_cases[], memory_cases[], context_cases[];
extern const size_t order_case_count, wait_case_count, memory_case_count, context_case_count;

#endif
