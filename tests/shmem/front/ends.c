/* Ways to end. ends start_pes: without shmem_finalize; ends exit: by exit() in a function; ends
 * global: shmem_global_exit(3). In the first two, the last call of each PE is a put to its
 * neighbour, which waits for it by loads only. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long words[1000];

static void leave(void) {
  const int right = (shmem_my_pe() + 1) % shmem_n_pes();
  if (shmem_my_pe() % 2 == 1) { /* learns of it only by what the other PE does as it ends */
    shmem_long_wait_until(&words[999], SHMEM_CMP_EQ, 5);
    printf("ok: it has come\n");
    fflush(stdout);
    exit(0);
  }
  for (int i = 0; i < 1000; ++i) shmem_long_p(&words[i], 5, right);
  exit(0);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "start_pes") == 0) {
    start_pes(0);
  } else {
    shmem_init();
  }
  shmem_barrier_all();
  if (strcmp(how, "global") == 0) {
    shmem_long_p(&words[1], 1, (shmem_my_pe() + 1) % shmem_n_pes());
    if (shmem_my_pe() == 0) shmem_global_exit(3);
    for (;;) shmem_long_wait_until(&words[2], SHMEM_CMP_EQ, 1);
  }
  leave();
}
