/* upc_memcpy, memput, memget, memset between all threads, at odd offsets and in all sizes, against
 * a private copy. */
#include <string.h>

#include "check.h"

enum { area = 300000 };
static unsigned char* copies; /* expected contents of this thread's part on every thread */
static unsigned char buffer[area];

static size_t pick_size(uint64_t* random) {
  static const size_t ranges[] = {2, 9, 70, 600, 5000, 70000};
  return below(random, ranges[below(random, 6)]);
}

/* Every thread works in a part of its own on all threads. */
static void step(uint64_t* random, ncupc_ptr base) {
  const size_t bytes = pick_size(random);
  const int to = (int)below(random, (size_t)THREADS), from = (int)below(random, (size_t)THREADS);
  const size_t to_at = below(random, area / 2 - bytes),
               from_at = area / 2 + below(random, area / 2 - bytes);
  const ncupc_ptr to_p = ncupc_add_bytes(ncupc_add(base, to, area, 1), (ptrdiff_t)to_at);
  const ncupc_ptr from_p = ncupc_add_bytes(ncupc_add(base, from, area, 1), (ptrdiff_t)from_at);
  unsigned char *const mine_to = copies + (size_t)to * area + to_at, *const mine_from =
                                                                         copies +
                                                                         (size_t)from * area +
                                                                         from_at;
  switch (below(random, 6)) {
    case 0:
      upc_memset(from_p, (int)bytes + to, bytes);
      memset(mine_from, (int)bytes + to, bytes);
      break;
    case 1:
      for (size_t i = 0; i < bytes; ++i) buffer[i] = (unsigned char)(i * 7 + bytes);
      upc_memput(from_p, buffer, bytes);
      memcpy(mine_from, buffer, bytes);
      memset(buffer, 0, bytes); /* may be reused at once */
      break;
    case 2:
      upc_memget(buffer, to_p, bytes);
      CHECK(memcmp(buffer, mine_to, bytes) == 0, "%zu bytes from thread %d", bytes, to);
      break;
    default:
      upc_memcpy(to_p, from_p, bytes);
      memcpy(mine_to, mine_from, bytes);
      if (below(random, 2) == 0) {
        upc_memget(buffer, to_p, bytes);
        CHECK(memcmp(buffer, mine_to, bytes) == 0, "%zu bytes from thread %d to %d", bytes, from,
              to);
      }
  }
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 300;
  uint64_t random = 5 + (uint64_t)MYTHREAD;
  copies = calloc((size_t)THREADS, area);
  const ncupc_ptr base = upc_global_alloc((size_t)THREADS, area);
  for (int thread = 0; thread < THREADS; ++thread)
    upc_memset(ncupc_add(base, thread, area, 1), 0, area);
  for (int i = 0; i < rounds; ++i) step(&random, base);
  NCUPC_BARRIER();
  for (int thread = 0; thread < THREADS; ++thread) {
    upc_memget(buffer, ncupc_add(base, thread, area, 1), area);
    CHECK(memcmp(buffer, copies + (size_t)thread * area, area) == 0, "thread %d", thread);
  }
  upc_free(base);
  free(copies);
  return verdict();
}
