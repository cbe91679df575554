/* Calls that a program must not make: each ends all threads with a message. The argument selects
 * one. */
#include "coll.h"

int ncupc_main(int argc, char** argv) {
  const char* wrong = argc > 1 ? argv[1] : "";
  const ncupc_ptr a = upc_all_alloc((size_t)THREADS, 4096),
                  b = upc_all_alloc((size_t)THREADS, 4096);
  const int last = THREADS - 1;
#define WRONG(name) else if (strcmp(wrong, name) == 0)
  if (*wrong == 0) return 2;
  WRONG("two_ins") upc_all_broadcast(a, b, 8, UPC_IN_MYSYNC | UPC_IN_NOSYNC);
  WRONG("no_flag") upc_all_gather_all(a, b, 8, 1 << 20);
  WRONG("null_dst") upc_all_scatter(NCUPC_NULL, b, 8, 0);
  WRONG("null_src") upc_all_exchange(a, NCUPC_NULL, 8, 0);
  WRONG("dst_thread") upc_all_broadcast(coll_at(last, ncupc_address(a)), b, 8, 0);
  WRONG("bits_of_double") upc_all_reduceD(a, b, UPC_XOR, 10, 1, NULL, 0);
  WRONG("no_operation") upc_all_reduceI(a, b, 12345, 10, 1, NULL, 0);
  WRONG("no_function") upc_all_prefix_reduceL(a, b, UPC_FUNC, 10, 1, NULL, 0);
  WRONG("sizes_differ") upc_all_broadcast(a, b, MYTHREAD == last ? 16 : 8, 0);
  WRONG("calls_differ") {
    if (MYTHREAD == last)
      upc_all_gather_all(a, b, 8, 0);
    else
      upc_all_exchange(a, b, 8, 0);
  }
  WRONG("no_thread") {
    *(int*)coll_own(ncupc_address(b)) = THREADS;
    upc_all_permute(a, a, b, 8, 0);
  }
  WRONG("domain_type") upc_all_atomicdomain_alloc(UPC_LDOUBLE, UPC_ADD, 0);
  WRONG("domain_operation") upc_all_atomicdomain_alloc(UPC_DOUBLE, UPC_ADD | UPC_XOR, 0);
  WRONG("other_operation") {
    ncupc_ptr domain = upc_all_atomicdomain_alloc(UPC_INT, UPC_ADD, 0);
    const int one = 1;
    upc_atomic_relaxed(domain, NULL, UPC_SET, a, &one, NULL);
  }
  WRONG("freed_domain") {
    ncupc_ptr domain = upc_all_atomicdomain_alloc(UPC_INT, UPC_GET, 0);
    upc_all_atomicdomain_free(domain);
    domain = NCUPC_NULL;
    upc_atomic_strict(domain, &domain, UPC_GET, a, NULL, NULL);
  }
  WRONG("unaligned") {
    ncupc_ptr domain = upc_all_atomicdomain_alloc(UPC_INT64, UPC_INC, 0);
    upc_atomic_relaxed(domain, NULL, UPC_INC, ncupc_field(a, 4), NULL, NULL);
  }
  WRONG("handle") upc_sync((upc_handle_t)99);
  WRONG("bupc_handle") bupc_waitsync_all((bupc_handle_t[]){BUPC_COMPLETE_HANDLE, 98}, 2);
  WRONG("region") {
    bupc_begin_accessregion();
    bupc_begin_accessregion();
  }
  WRONG("no_region")(void) bupc_end_accessregion();
  WRONG("runs_differ")
  bupc_memput_fstrided(a, 8, 16, 4, "0123456789abcdef0123456789abcde", 31, 0, 1);
  WRONG("atomic_null")(void) bupc_atomicI_fetchadd_strict(NCUPC_NULL, 1);
  WRONG("atomic_unaligned") bupc_atomicD_set_relaxed(ncupc_field(a, 4), 1);
  WRONG("no_semaphore") bupc_sem_post(a);
  WRONG("semaphore_freed") {
    const ncupc_ptr s = bupc_sem_alloc(0);
    bupc_sem_free(s);
    bupc_sem_free(s);
  }
  WRONG("semaphore_kind")(void) bupc_sem_alloc(BUPC_SEM_BOOLEAN | BUPC_SEM_INTEGER);
  WRONG("semaphore_boolean") bupc_sem_postN(bupc_sem_alloc(BUPC_SEM_BOOLEAN), 2);
  WRONG("semaphore_full") {
    const ncupc_ptr s = bupc_sem_alloc(0);
    bupc_sem_postN(s, BUPC_SEM_MAXVALUE);
    bupc_sem_post(s);
  }
  WRONG("signal_elsewhere")
  bupc_memput_signal(coll_at((MYTHREAD + 1) % THREADS, ncupc_address(a)), "x", 1, bupc_sem_alloc(0),
                     1);
  WRONG("value_root")(void) bupc_allv_broadcast(int, MYTHREAD, THREADS);
  WRONG("value_types") {
    if (MYTHREAD == last)
      (void)bupc_allv_reduce_all(int, MYTHREAD, UPC_ADD);
    else
      (void)bupc_allv_reduce_all(float, MYTHREAD, UPC_ADD);
  }
  WRONG("value_function")(void) bupc_allv_reduce_all(int, MYTHREAD, UPC_FUNC);
  WRONG("value_bits")(void) bupc_allv_prefix_reduce(double, 1.0, UPC_AND);
  WRONG("value_nowhere")(void) bupc_allv_gather(int, MYTHREAD, 0, NULL);
  WRONG("value_permutation")(void) bupc_allv_permute(int, MYTHREAD, 0);
  WRONG("no_file")(void) upc_all_fsync(a);
  WRONG("no_distance")(void) bupc_thread_distance(0, THREADS);
  WRONG("private_address")(void) bupc_local_to_shared(&argc, 0, 0);
  NCUPC_BARRIER();
  return 0;
}
