/* Reports whether it is cached, for test_passing_by.py: the program or one of its libraries calls
 * OpenSHMEM in ways that Nearcache may not see. */
#include <nearcache/shmem.h>
#include <stdio.h>

#ifdef CALLS_PSHMEM
void pshmem_barrier_all(void);
#define barrier pshmem_barrier_all
#elif defined(CALLS_FORTRAN)
void shmem_barrier_all_(void);
#define barrier shmem_barrier_all_
#elif defined(CALLS_UNKNOWN)
void shmemx_barrier_some(void);
#define barrier shmemx_barrier_some
#elif defined(CALLS_LIBRARY)
void solver_barrier(void);
#define barrier solver_barrier
#else
#define barrier shmem_barrier_all
#endif

int main(void) {
  shmem_init();
  (void)shmem_team_my_pe(SHMEM_TEAM_WORLD); /* a known call without effect on caching */
  barrier();
  printf("%s\n", nearcache_shmem_caching() ? "cached" : "left alone");
  shmem_finalize();
  return 0;
}
