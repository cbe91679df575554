/* What ALLSYNC promises beyond the data of the call: IN_ALLSYNC is a release before the call and
 * OUT_ALLSYNC an acquire after it, like a barrier, whatever the other flag is, for every
 * collective. */
#include "coll.h"

enum { block = 8, large = 2048, marks = 20, mark_stride = 4096 / sizeof(long), kinds = 8 };
static ncupc_ptr marked, source, result, order;

static void place(void) {
  ncupc_place(&marked, "marked", sizeof(long), (size_t)THREADS * marks * mark_stride,
              marks * mark_stride, NCUPC_HERE);
  ncupc_place(&source, "source", sizeof(long), (size_t)THREADS * THREADS * large,
              (size_t)THREADS * large, NCUPC_HERE);
  ncupc_place(&result, "result", sizeof(long), (size_t)THREADS * THREADS * large,
              (size_t)THREADS * large, NCUPC_HERE);
  ncupc_place(&order, "order", sizeof(int), (size_t)THREADS, 1, NCUPC_HERE);
}
NCUPC_MODULE("ordering.c", place, NULL);

static ncupc_ptr mark(int thread, int i) {
  return coll_at(thread, ncupc_address(marked) + (uint64_t)i * mark_stride * sizeof(long));
}
static ncupc_ptr word_of(ncupc_ptr array, int thread, size_t i) {
  return coll_at(thread, ncupc_address(array) + i * sizeof(long));
}

/* `elements`: longs in a block; for reductions, elements of all threads in blocks of that size. */
static void call(int kind, size_t elements, int flags) {
  const size_t bytes = elements * sizeof(long), all = elements * (size_t)THREADS;
  switch (kind) {
    case 0:
      upc_all_broadcast(result, source, bytes, flags);
      break;
    case 1:
      upc_all_scatter(result, source, bytes, flags);
      break;
    case 2:
      upc_all_gather(result, source, bytes, flags);
      break;
    case 3:
      upc_all_gather_all(result, source, bytes, flags);
      break;
    case 4:
      upc_all_exchange(result, source, bytes, flags);
      break;
    case 5:
      upc_all_permute(result, source, order, bytes, flags);
      break;
    case 6:
      upc_all_reduceL(result, source, UPC_ADD, all, elements, NULL, flags);
      break;
    case 7:
      upc_all_prefix_reduceL(result, source, UPC_ADD, all, elements, NULL, flags);
      break;
  }
}

/* Threads write to the next one's memory, relaxed, and make the call. A thread that has returned
 * finds all of these writes, in its own memory and elsewhere, where it has just read the old
 * values. Either all threads write, or only the last one, so that the others have nothing of their
 * own to wait for. */
static void check_out_allsync(int kind, size_t elements, int in, int all, long value) {
  const int next = (MYTHREAD + 1) % THREADS;
  long before = 0;
  for (int i = 0; i < marks; ++i) before += NCUPC_GET(long, mark(next, i));
  NCUPC_BARRIER();
  for (int i = 0; i < marks && (all || next == 0); ++i) NCUPC_PUT(long, mark(next, i), value + i);
  call(kind, elements, in | UPC_OUT_ALLSYNC);
  for (int thread = all ? MYTHREAD : 0; thread < (all ? MYTHREAD + THREADS : 1); ++thread) {
    for (int i = marks; i-- > 0;) {
      const long found = NCUPC_GET(long, mark(thread % THREADS, i));
      COLL_CHECK(found == value + i,
                 "kind %d, %zu elements, in %d: mark %d of %d is %ld, not %ld (%ld)", kind,
                 elements, in, i, thread % THREADS, found, value + i, before);
    }
  }
  NCUPC_BARRIER();
}

/* The previous thread writes each thread's source, relaxed, right before the call. */
static void check_in_allsync(int kind, size_t elements, int out, long value) {
  const int next = (MYTHREAD + 1) % THREADS;
  const size_t count = kind == 1 || kind == 4 ? elements * (size_t)THREADS : elements;
  for (size_t i = 0; i < count; ++i) NCUPC_PUT(long, word_of(source, next, i), value + next);
  call(kind, elements, UPC_IN_ALLSYNC | out);
  NCUPC_BARRIER();
  /* of the last element of this thread's result */
  const int from = kind == 5 ? (MYTHREAD + THREADS - 1) % THREADS : 0;
  const long first = NCUPC_GET(long, word_of(result, MYTHREAD, 0)),
             last = NCUPC_GET(long, word_of(result, MYTHREAD, elements - 1));
  long sum = 0;
  for (int thread = 0; thread < THREADS; ++thread) sum += (long)elements * (value + thread);
  if (kind < 6 && (kind != 2 || MYTHREAD == 0)) {
    COLL_CHECK(first == value + from && last == value + from, "kind %d, out %d: %ld and %ld", kind,
               out, first, last);
  } else if (kind == 6 && MYTHREAD == 0) {
    COLL_CHECK(first == sum, "out %d: %ld, not %ld", out, first, sum);
  } else if (kind == 7 && MYTHREAD == THREADS - 1) {
    COLL_CHECK(last == sum, "out %d: %ld, not %ld", out, last, sum);
  }
  NCUPC_BARRIER();
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 3;
  const int only = argc > 2 ? atoi(argv[2]) : -1;
  const int next = (MYTHREAD + 1) % THREADS;
  memcpy(coll_own(ncupc_address(order)), &next, sizeof next);
  NCUPC_BARRIER();
  long value = 0;
  for (int round = 0; round < rounds; ++round) {
    for (int kind = 0; kind < kinds; ++kind) {
      if (only >= 0 && kind != only) continue;
      for (int f = 0; f < 3; ++f) {
        check_out_allsync(kind, block, coll_in[f], f == round % 3, value += 1000);
        check_out_allsync(kind, large, coll_in[f], f != round % 3, value += 1000);
        check_in_allsync(kind, block, coll_out[f], value += 1000);
        check_in_allsync(kind, large, coll_out[f], value += 1000);
      }
    }
  }
  if (MYTHREAD == 0) printf("ok ordering\n");
  return 0;
}
