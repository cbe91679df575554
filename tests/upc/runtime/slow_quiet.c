/* To preload: a quiet begins late, so that what a thread tells others before its release is seen by
 * them before the release. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

void shmem_quiet(void);

void shmem_quiet(void) {
  static void (*next)(void);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "shmem_quiet");
  nanosleep(&(struct timespec){0, 1000000}, NULL);
  next();
}
