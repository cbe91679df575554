/* Opens its OpenSHMEM library at run time, as interpreters do: late LIBRARY. Built without
 * OpenSHMEM. */
#include <dlfcn.h>
#include <stdio.h>

#define FUNCTION(result, name, ...) \
  result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))dlsym(RTLD_DEFAULT, #name)

int main(int argc, char** argv) {
  if (argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) return 2;
  FUNCTION(void, shmem_init, void);
  FUNCTION(void, shmem_finalize, void);
  FUNCTION(void, shmem_barrier_all, void);
  FUNCTION(int, shmem_my_pe, void);
  FUNCTION(void*, shmem_malloc, size_t);
  FUNCTION(void, shmem_free, void*);
  FUNCTION(long, shmem_long_g, const long*, int);
  shmem_init();
  const int me = shmem_my_pe();
  long *word = shmem_malloc(sizeof *word), sum = 0;
  *word = 10 + me;
  shmem_barrier_all();
  for (int i = 0; i < 5; i++) sum += shmem_long_g(word, 1 - me);
  shmem_barrier_all();
  if (me == 0) printf(sum == 55 ? "ok 1\n" : "FAILED late: %ld\n", sum);
  fflush(stdout);
  shmem_free(word);
  shmem_finalize();
  return sum != (me == 0 ? 55 : 50);
}
