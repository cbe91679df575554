/* Random sequences of the collectives that copy, against what each thread's block must be.
 *
 * Every byte of a source is a function of the round, its thread and its place, so a thread knows
 * what any other has to have. What threads do before and after a call is as much as its flags
 * allow:
 *   IN_ALLSYNC   the source of the next thread is written by this one, without a barrier before the
 *                call
 *   IN_MYSYNC    a thread's own source is written, while others may be in the call already
 *   IN_NOSYNC    a barrier first
 *   OUT_ALLSYNC  the next thread's destination is read right after the call
 *   OUT_MYSYNC   a thread's own destination is read, and both are overwritten
 *   OUT_NOSYNC   a barrier first */
#include "coll.h"

enum { BROADCAST, SCATTER, GATHER, GATHER_ALL, EXCHANGE, PERMUTE, KINDS };
static const char* const names[] = {"broadcast",  "scatter",  "gather",
                                    "gather_all", "exchange", "permute"};

static size_t most; /* bytes of a thread's source and of its destination */
static ncupc_ptr source, destination, permutation;
static unsigned char *expected, *found;

/* The arguments of one collective. */
struct call {
  int kind, root, in, out;
  size_t bytes, round;
};

static unsigned char byte_of(const struct call* call, int thread, size_t place) {
  uint64_t seed = call->round * 1000003 + (uint64_t)thread * 7919 + place;
  return (unsigned char)(coll_next(&seed) >> 17);
}

static size_t size_of(int kind) {
  const size_t room = kind == BROADCAST || kind == PERMUTE ? most : most / (size_t)THREADS;
  size_t bytes;
  switch (coll_random(4)) {
    case 0:
      bytes = 1 + coll_random(16);
      break;
    case 1:
      bytes = 1 + coll_random(500);
      break;
    case 2:
      bytes = 1 + coll_random(20000);
      break;
    default:
      bytes = 1 + coll_random(room);
      break;
  }
  return bytes < room ? bytes : room;
}

/* Returns how many bytes of a thread's source, or destination, the call uses. */
static size_t source_bytes(const struct call* call, int thread) {
  switch (call->kind) {
    case BROADCAST:
      return thread == call->root ? call->bytes : 0;
    case SCATTER:
      return thread == call->root ? call->bytes * (size_t)THREADS : 0;
    case EXCHANGE:
      return call->bytes * (size_t)THREADS;
    default:
      return call->bytes;
  }
}
static size_t destination_bytes(const struct call* call, int thread) {
  switch (call->kind) {
    case GATHER:
      return thread == call->root ? call->bytes * (size_t)THREADS : 0;
    case GATHER_ALL:
    case EXCHANGE:
      return call->bytes * (size_t)THREADS;
    default:
      return call->bytes;
  }
}

/* A permutation that each thread computes: a rotation, mirrored in odd rounds. */
static int sent_to(const struct call* call, int thread) {
  const int turned = (thread + call->root) % THREADS;
  return call->round % 2 != 0 ? THREADS - 1 - turned : turned;
}

static void expect(const struct call* call, int thread) {
  const size_t n = call->bytes;
  for (int block = 0; block < THREADS; ++block) {
    int from = call->root;
    size_t skipped = 0; /* of the source */
    if (call->kind == GATHER || call->kind == GATHER_ALL || call->kind == EXCHANGE) from = block;
    if (call->kind == SCATTER || call->kind == EXCHANGE) skipped = n * (size_t)thread;
    if (call->kind == PERMUTE) {
      for (from = 0; sent_to(call, from) != thread;) ++from;
    }
    if (n * (size_t)block >= destination_bytes(call, thread)) break;
    for (size_t i = 0; i < n; ++i)
      expected[n * (size_t)block + i] = byte_of(call, from, skipped + i);
  }
}

static void fill_source(const struct call* call, int thread) {
  const size_t bytes = source_bytes(call, thread);
  for (size_t i = 0; i < bytes; ++i) expected[i] = byte_of(call, thread, i);
  if (bytes != 0) upc_memput(coll_at(thread, ncupc_address(source)), expected, bytes);
}

static void check_destination(const struct call* call, int thread) {
  const size_t bytes = destination_bytes(call, thread);
  if (bytes == 0) return;
  expect(call, thread);
  upc_memget(found, coll_at(thread, ncupc_address(destination)), bytes);
  for (size_t i = 0; i < bytes; ++i) {
    COLL_CHECK(
        found[i] == expected[i],
        "%s of %zu bytes, root %d, in %d, out %d, round %zu: byte %zu of thread %d is %d, not %d",
        names[call->kind], call->bytes, call->root, call->in, call->out, call->round, i, thread,
        found[i], expected[i]);
  }
}

static void call_it(const struct call* call, int flags) {
  const ncupc_ptr root_source = coll_at(call->root, ncupc_address(source));
  const ncupc_ptr root_destination = coll_at(call->root, ncupc_address(destination));
  switch (call->kind) {
    case BROADCAST:
      upc_all_broadcast(destination, root_source, call->bytes, flags);
      break;
    case SCATTER:
      upc_all_scatter(destination, root_source, call->bytes, flags);
      break;
    case GATHER:
      upc_all_gather(root_destination, source, call->bytes, flags);
      break;
    case GATHER_ALL:
      upc_all_gather_all(destination, source, call->bytes, flags);
      break;
    case EXCHANGE:
      upc_all_exchange(destination, source, call->bytes, flags);
      break;
    default:
      upc_all_permute(destination, source, permutation, call->bytes, flags);
      break;
  }
}

static void one_round(size_t round) {
  struct call call = {(int)coll_random(KINDS),
                      (int)coll_random((size_t)THREADS),
                      (int)coll_random(3),
                      (int)coll_random(3),
                      0,
                      round};
  const int next = (MYTHREAD + 1) % THREADS;
  int flags = coll_in[call.in] | coll_out[call.out];
  call.bytes = size_of(call.kind);
  if (call.in == 0 && call.out == 0 && coll_random(2) != 0) flags = 0;
  coll_delay();
  if (call.in != 1) NCUPC_BARRIER(); /* otherwise the next thread is still in the last round */
  memset(coll_own(ncupc_address(destination)), 0xaa, destination_bytes(&call, MYTHREAD));
  *(int*)coll_own(ncupc_address(permutation)) = sent_to(&call, MYTHREAD);
  fill_source(&call, call.in == 0 ? next : MYTHREAD);
  if (call.in == 2) NCUPC_BARRIER();
  coll_delay();
  call_it(&call, flags);
  if (call.out == 2) NCUPC_BARRIER();
  if (call.out == 1) memset(coll_own(ncupc_address(source)), 0x55, source_bytes(&call, MYTHREAD));
  check_destination(&call, call.out == 0 ? next : MYTHREAD);
  if (call.out == 0) NCUPC_BARRIER(); /* it may write there from now on */
}

/* Many small broadcasts without any synchronisation, from one thread after another: the first ones
 * run ahead of the last. */
static void run_ahead(int broadcasts) {
  const ncupc_ptr from = upc_all_alloc((size_t)THREADS, sizeof(int) * (size_t)broadcasts);
  const ncupc_ptr to = upc_all_alloc((size_t)THREADS, sizeof(int) * (size_t)broadcasts);
  int* mine = ncupc_local(coll_at(MYTHREAD, ncupc_address(from)));
  for (int i = 0; i < broadcasts; ++i) mine[i] = i * 10 + MYTHREAD;
  NCUPC_BARRIER();
  for (int i = 0; i < broadcasts; ++i) {
    if (i % 50 == 0) coll_delay();
    const uint64_t skipped = sizeof(int) * (uint64_t)i;
    upc_all_broadcast(coll_at(0, ncupc_address(to) + skipped),
                      coll_at(i / 100 % THREADS, ncupc_address(from) + skipped), sizeof(int),
                      UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  }
  NCUPC_BARRIER();
  const int* result = ncupc_local(coll_at(MYTHREAD, ncupc_address(to)));
  for (int i = 0; i < broadcasts; ++i)
    COLL_CHECK(result[i] == i * 10 + i / 100 % THREADS, "broadcast %d gave %d", i, result[i]);
  upc_all_free(from);
  upc_all_free(to);
}

int ncupc_main(int argc, char** argv) {
  const size_t rounds = argc > 1 ? (size_t)atol(argv[1]) : 100;
  most = argc > 2 ? (size_t)atol(argv[2]) : 400000;
  coll_seed(argc > 3 ? (uint64_t)atol(argv[3]) : 1);
  source = upc_all_alloc((size_t)THREADS, most);
  destination = upc_all_alloc((size_t)THREADS, most);
  permutation = upc_all_alloc((size_t)THREADS, sizeof(int));
  expected = malloc(most);
  found = malloc(most);
  for (size_t round = 0; round < rounds; ++round) one_round(round);
  NCUPC_BARRIER();
  run_ahead(1000);
  if (MYTHREAD == 0) printf("ok %zu rounds\n", rounds);
  free(expected);
  free(found);
  return 0;
}
