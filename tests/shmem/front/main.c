/* shmem_front <case>: runs one case; `shmem_front list` prints their names. */
#include "front.h"

#include <string.h>

int me, pes, right, left;
long wrong;

nearcache_stats counted(void) {
  nearcache_stats stats = {.size = sizeof stats};
  nearcache_shmem_stats(&stats);
  return stats;
}

static const struct front_case* const groups[] = {write_cases, order_cases, memory_cases,
                                                  api_cases};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "list";
  const struct front_case* found = NULL;
  for (size_t g = 0; g < sizeof groups / sizeof *groups; ++g) {
    for (const struct front_case* c = groups[g]; c->name != NULL; ++c) {
      if (strcmp(name, "list") == 0) puts(c->name);
      if (strcmp(name, c->name) == 0) found = c;
    }
  }
  if (found == NULL) return strcmp(name, "list") == 0 ? 0 : 2;
  shmem_init();
  me = shmem_my_pe();
  pes = shmem_n_pes();
  right = (me + 1) % pes;
  left = (me + pes - 1) % pes;
  found->run();
  shmem_barrier_all();
  printf("%s %s on PE %d\n", wrong ? "FAILED" : "ok", name, me);
  fflush(stdout);
  shmem_finalize();
  return wrong != 0;
}
