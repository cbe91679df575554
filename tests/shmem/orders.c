// Every sequence of own accesses, up to a given length, to overlapping bytes of another PE: program
// order must hold. PE 0 issues the accesses, PE 1 owns the memory; a plain array in PE 0 holds its
// expected contents. Nothing is sampled.
//
// orders LENGTH KINDS ...   sequences of LENGTH accesses of the first KINDS kinds (at most 16), and
// so on
#include "check.h"

#define BYTES 6144
#define MOST_LENGTH 8

static unsigned char* target;        // symmetric
static unsigned char oracle[BYTES];  // of PE 1's memory
static unsigned char buffer[BYTES];  // of non-blocking puts: must stay until quiet
static unsigned char next_byte = 1;

static void fresh(unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) bytes[i] = next_byte = (unsigned char)(next_byte * 5 + 77);
}

static void compare(const char* what, const void* found, size_t at, size_t bytes) {
  if (memcmp(found, oracle + at, bytes) == 0) return;
  size_t i = 0;
  while (((const unsigned char*)found)[i] == oracle[at + i]) ++i;
  fail("%s: byte %zu is %d, not %d", what, at + i, ((const unsigned char*)found)[i],
       oracle[at + i]);
}

static void do_p(void) {
  long value;
  fresh((unsigned char*)&value, sizeof value);
  memcpy(oracle + 8, &value, sizeof value);
  shmem_long_p((long*)(target + 8), value, 1);
}
static void do_g(void) {
  const long value = shmem_long_g((long*)(target + 8), 1);
  compare("g", &value, 8, sizeof value);
}
static void do_put(void) {
  unsigned char bytes[20];
  fresh(bytes, sizeof bytes);
  memcpy(oracle + 3, bytes, sizeof bytes);
  shmem_putmem(target + 3, bytes, sizeof bytes, 1);
  memset(bytes, 0, sizeof bytes);
}
static void do_get(void) {
  unsigned char bytes[70];
  shmem_getmem(bytes, target + 2, sizeof bytes, 1);
  compare("get", bytes, 2, sizeof bytes);
}
static void do_iput(void) {
  int ints[4];
  fresh((unsigned char*)ints, sizeof ints);
  for (int i = 0; i < 4; ++i) memcpy(oracle + 8 * i, &ints[i], sizeof *ints);
  shmem_int_iput((int*)target, ints, 2, 1, 4, 1);
}
static void do_add(void) {
  long value;
  memcpy(&value, oracle + 16, sizeof value);
  value += 0x0101010101;
  memcpy(oracle + 16, &value, sizeof value);
  shmem_long_atomic_add((long*)(target + 16), 0x0101010101, 1);
}
static void do_fence(void) { shmem_fence(); }
static void do_put_nbi(void) {
  static size_t at;
  at = (at + 64) % (BYTES - 64);
  unsigned char* bytes = buffer + at;
  fresh(bytes, 11);
  memcpy(oracle + 10, bytes, 11);
  shmem_putmem_nbi(target + 10, bytes, 11, 1);
}
static void do_get_nbi(void) {
  unsigned char bytes[16];
  shmem_getmem_nbi(bytes, target + 6, sizeof bytes, 1);
  shmem_quiet();
  compare("get_nbi", bytes, 6, sizeof bytes);
}
static void do_iget(void) {
  short shorts[5];
  shmem_short_iget(shorts, (short*)(target + 4), 1, 3, 5, 1);
  for (int i = 0; i < 5; ++i) compare("iget", &shorts[i], (size_t)(4 + 6 * i), sizeof *shorts);
}
static void do_fetch(void) {
  const long value = shmem_long_atomic_fetch((long*)(target + 16), 1);
  compare("atomic_fetch", &value, 16, sizeof value);
}
static void do_swap(void) {
  long value, before;
  fresh((unsigned char*)&value, sizeof value);
  before = shmem_long_atomic_swap((long*)(target + 8), value, 1);
  compare("atomic_swap", &before, 8, sizeof before);
  memcpy(oracle + 8, &value, sizeof value);
}
static void do_bulk_put(void) {  // bypasses the cache
  static unsigned char bytes[5000];
  fresh(bytes, sizeof bytes);
  memcpy(oracle + 12, bytes, sizeof bytes);
  shmem_putmem(target + 12, bytes, sizeof bytes, 1);
}
static void do_bulk_get(void) {
  static unsigned char bytes[5000];
  shmem_getmem(bytes, target, sizeof bytes, 1);
  compare("bulk get", bytes, 0, sizeof bytes);
}
static void do_quiet(void) { shmem_quiet(); }
static void do_prefetch(void) { nearcache_shmem_prefetch(target, 128, 1); }

struct access {
  const char* name;
  void (*run)(void);
};
// Sorted by the number of ways in which they involve the cache, most first.
static const struct access accesses[] = {
    {"p", do_p},
    {"get", do_get},
    {"put", do_put},
    {"iput", do_iput},
    {"bulk_put", do_bulk_put},
    {"add", do_add},
    {"fence", do_fence},
    {"g", do_g},
    {"get_nbi", do_get_nbi},
    {"put_nbi", do_put_nbi},
    {"prefetch", do_prefetch},
    {"iget", do_iget},
    {"fetch", do_fetch},
    {"swap", do_swap},
    {"bulk_get", do_bulk_get},
    {"quiet", do_quiet},
};
enum { kinds = sizeof accesses / sizeof *accesses };

// Reads the memory past the cache: its final contents, not what this PE believes.
static void compare_memory(void) {
  unsigned char bytes[256];
  shmem_quiet();
  nearcache_shmem_acquire();
  shmem_getmem(bytes, target, sizeof bytes, 1);
  compare("memory in the end", bytes, 0, sizeof bytes);
}

static void run_sequence(const int* sequence, int length) {
  char name[200] = "";
  for (int i = 0; i < length; ++i) {
    strcat(name, accesses[sequence[i]].name);
    if (i + 1 < length) strcat(name, " ");
  }
  current = name;
  for (int i = 0; i < length; ++i) accesses[sequence[i]].run();
  compare_memory();
}

static long run_all(int length, int choice) {
  int sequence[MOST_LENGTH] = {0};
  long count = 0;
  while (failures <= most_failures) {
    run_sequence(sequence, length);
    ++count;
    int i = length - 1;
    while (i >= 0 && ++sequence[i] == choice) sequence[i--] = 0;
    if (i < 0) break;
  }
  return count;
}

int main(int argc, char** argv) {
  check_start();
  target = shmem_malloc(BYTES);
  memset(target, 0, BYTES);
  shmem_barrier_all();
  for (int i = 1; me == 0 && i + 1 < argc; i += 2) {
    int length = atoi(argv[i]), choice = atoi(argv[i + 1]);
    if (length < 1 || length > MOST_LENGTH || choice < 1 || choice > kinds) return 2;
    const long count = run_all(length, choice);
    current = "orders";
    if (failures == 0)
      printf("ok %ld sequences of %d of %d kinds of access\n", count, length, choice);
    fflush(stdout);
  }
  shmem_barrier_all();
  shmem_free(target);
  return check_end();
}
