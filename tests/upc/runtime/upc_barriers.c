/* Barriers: no thread passes before all have arrived; earlier writes are seen afterwards;
 * expressions. */
#include "check.h"

static ncupc_ptr epochs;

static void place(void) {
  ncupc_place(&epochs, "epochs", sizeof(int), (size_t)THREADS, 1, NCUPC_HERE);
}
NCUPC_MODULE("upc_barriers.c", place, NULL);

static ncupc_ptr epoch_of(int thread) { return ncupc_add(epochs, thread, sizeof(int), 1); }

/* Each thread writes the epoch to the next one's word before it notifies; after the wait, all
 * writes have arrived. */
static void check_epoch(int epoch, uint64_t* random) {
  const int to = (MYTHREAD + 1) % THREADS;
  NCUPC_PUT(int, epoch_of(to), epoch);
  switch (epoch % 5) {
    case 0:
      NCUPC_BARRIER();
      break;
    case 1:
      NCUPC_BARRIER_EXPR(epoch);
      break;
    case 2:
      NCUPC_NOTIFY_EXPR(epoch);
      for (size_t i = below(random, 1000); i > 0; --i) (void)NCUPC_GET(int, epoch_of(MYTHREAD));
      NCUPC_WAIT_EXPR(epoch);
      break;
    case 3: /* some threads pass a value, others none */
      if (MYTHREAD % 2 == 0) {
        NCUPC_NOTIFY_EXPR(-epoch);
        NCUPC_WAIT();
      } else {
        NCUPC_BARRIER();
      }
      break;
    default:
      NCUPC_NOTIFY();
      NCUPC_WAIT();
  }
  for (int thread = 0; thread < THREADS; ++thread) {
    CHECK(NCUPC_GET(int, epoch_of(thread)) == epoch, "epoch %d: thread %d has %d", epoch, thread,
          NCUPC_GET(int, epoch_of(thread)));
  }
  NCUPC_BARRIER();
}

/* A thread that has notified need not wait at once: the others' wait needs nothing more from it. */
static void check_split(void) {
  const ncupc_ptr flag = upc_all_alloc(1, sizeof(int));
  if (MYTHREAD == 0) NCUPC_PUT_STRICT(int, flag, 0);
  NCUPC_BARRIER();
  if (MYTHREAD == THREADS - 1) {
    NCUPC_NOTIFY();
    if (THREADS > 1) {
      while (NCUPC_GET_STRICT(int, flag) == 0) {
      }
    }
    NCUPC_WAIT();
  } else {
    NCUPC_BARRIER(); /* passes although the last thread has not waited yet */
    if (MYTHREAD == 0) NCUPC_PUT_STRICT(int, flag, 1);
  }
  NCUPC_BARRIER();
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 300;
  uint64_t random = (uint64_t)MYTHREAD;
  for (int epoch = 1; epoch <= rounds; ++epoch) check_epoch(epoch, &random);
  check_split();
  return verdict();
}
