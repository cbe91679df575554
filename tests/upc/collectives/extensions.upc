/* Berkeley's extensions and files, as UPC programs write them: types, arrays and macros that the translator must know. */
#include <upc_relaxed.h>
#include <upc_io.h>
#include <bupc_collectivev.h>
#include <complex.h> /* has a macro I */
#include <stdio.h>
#include <string.h>
shared [4] int a[16 * THREADS];
shared int64_t counter;
bupc_sem_t *shared sems[THREADS];
int main(void) {
  int mine[4] = {MYTHREAD, 1, 2, 3}, v = MYTHREAD + 1;
  bupc_handle_t h = bupc_memput_async(&a[4 * MYTHREAD], mine, sizeof mine);
  bupc_waitsync(h);
  bupc_smemvec_t to[2] = {{&a[4 * MYTHREAD + 4 * THREADS], 8}, {&a[4 * MYTHREAD + 8 * THREADS], 8}};
  bupc_pmemvec_t from[1] = {{mine, 16}};
  bupc_memput_vlist(2, to, 1, from);
  shared void *list[1] = {&a[4 * MYTHREAD]};
  const void *froms[1] = {mine};
  bupc_memput_ilist(1, list, 16, 1, froms, 16);
  size_t strides[1] = {8}, count[2] = {4, 2};
  bupc_memget_strided(mine, strides, &a[4 * MYTHREAD], strides, count, 1);
  bupc_atomicI64_fetchadd_relaxed(&counter, v);
  upc_barrier;
  if (bupc_atomicI64_read_strict(&counter) != THREADS * (THREADS + 1) / 2) return 1;
  sems[MYTHREAD] = bupc_sem_alloc(0);
  upc_barrier;
  bupc_memput_signal(&a[4 * ((MYTHREAD + 1) % THREADS)], mine, 16, sems[(MYTHREAD + 1) % THREADS], 1);
  bupc_sem_wait(sems[MYTHREAD]);
  if (bupc_allv_reduce_all(int, v, UPC_ADD) != THREADS * (THREADS + 1) / 2) return 2;
  double all[16] = {1};
  double d = bupc_allv_broadcast(double, all[0], 0);
  bupc_allv_gather(int, v, 0, MYTHREAD ? NULL : (int *)all);
  char text[BUPC_DUMP_MIN_LENGTH];
  bupc_dump_shared(&a[5], text, sizeof text);
  const char *name = "upc_extensions.tmp"; /* gone at its close */
  struct upc_hint hint = {"a", "b"};
  upc_file_t *fd = upc_all_fopen(name, UPC_RDWR | UPC_COMMON_FP | UPC_CREATE | UPC_TRUNC | UPC_DELETE_ON_CLOSE, 1, &hint);
  if (!fd) return 3;
  for (int i = 0; i < 16; i++) if (upc_threadof(&a[i * THREADS]) == MYTHREAD) a[i * THREADS] = i;
  if (upc_all_fwrite_shared(fd, a, 4, sizeof(int), 16 * THREADS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC) != sizeof(a)) return 4;
  struct upc_shared_memvec sm[1] = {{&a[0], 16, 64}};
  struct upc_filevec fv[1] = {{0, 64}};
  if (upc_all_fread_list_shared(fd, 1, sm, 1, fv, UPC_ASYNC) != 0 || upc_all_fwait_async(fd) != 64) return 5;
  if (upc_all_fclose(fd)) return 6;
  upc_barrier;
  bupc_sem_free(sems[MYTHREAD]);
  if (d != 1) return 7;
  if (MYTHREAD == 0) printf("ok %s\n", text);
  return 0;
}
