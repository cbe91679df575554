/* Reductions and prefix reductions of every type and operation, against a loop over the elements
 * through pointers-to-shared.
 *
 * Elements are small integers, which are exact in every type; operations whose results would not be
 * exact are left to the types that wrap. The non-commutative function composes maps x -> m x + c
 * modulo 16, stored in the low 8 bits of an element. */
#include "coll.h"

static size_t most; /* elements */
static ncupc_ptr elements, prefixes, result;

struct call {
  /* the first element is `skipped` after the array's start, in the same blocks */
  size_t count, block, skipped;
  upc_op_t op;
  int root, in, out;
  int with_prefixes;
};

static const upc_op_t operations[] = {UPC_ADD, UPC_MULT,   UPC_AND,         UPC_OR,
                                      UPC_XOR, UPC_LOGAND, UPC_LOGOR,       UPC_MIN,
                                      UPC_MAX, UPC_FUNC,   UPC_NONCOMM_FUNC};

static struct call random_call(int is_float) {
  struct call call;
  call.with_prefixes = (int)coll_random(2);
  do {
    call.op = operations[coll_random(11)];
  } while (is_float &&
           (call.op == UPC_AND || call.op == UPC_OR || call.op == UPC_XOR || call.op == UPC_MULT));
  if (coll_random(3) == 0) call.op = UPC_NONCOMM_FUNC;
  const size_t choice = coll_random(4);
  call.count = 1 + coll_random(choice == 0 ? 8 : choice == 1 ? 200 : most / 2);
  switch (coll_random(4)) {
    case 0:
      call.block = 0;
      break;
    case 1:
      call.block = 1;
      break;
    case 2:
      call.block = 1 + coll_random(7);
      break;
    default:
      call.block = 1 + coll_random(call.count);
      break;
  }
  if (call.block == 0 && call.count > most / (size_t)THREADS)
    call.count = 1 + call.count % (most / (size_t)THREADS);
  call.skipped =
      call.block == 0
          ? 0
          : coll_random(call.block * (size_t)THREADS < 2000 ? call.block * (size_t)THREADS : 2000);
  call.root = (int)coll_random((size_t)THREADS);
  call.in = (int)coll_random(3);
  call.out = (int)coll_random(3);
  return call;
}

#define SUFFIX C
#define T signed char
#include "reductions_of_type.h"
#define SUFFIX UC
#define T unsigned char
#include "reductions_of_type.h"
#define SUFFIX S
#define T short
#include "reductions_of_type.h"
#define SUFFIX US
#define T unsigned short
#include "reductions_of_type.h"
#define SUFFIX I
#define T int
#include "reductions_of_type.h"
#define SUFFIX UI
#define T unsigned int
#include "reductions_of_type.h"
#define SUFFIX L
#define T long
#include "reductions_of_type.h"
#define SUFFIX UL
#define T unsigned long
#include "reductions_of_type.h"
#define SUFFIX F
#define T float
#include "reductions_of_type.h"
#define SUFFIX D
#define T double
#include "reductions_of_type.h"
#define SUFFIX LD
#define T long double
#include "reductions_of_type.h"

/* Rounding depends on the order, which must be the same every time. */
static void sum_is_the_same_again(size_t count) {
  double first = 0;
  for (size_t i = 0; i < count; ++i) {
    const ncupc_ptr p = ncupc_add(elements, (ptrdiff_t)i, sizeof(double), 3);
    uint64_t state = i;
    if ((int)ncupc_thread(p) == MYTHREAD)
      *(double*)ncupc_local(p) = 1.0 / (double)(1 + coll_next(&state) % 1000);
  }
  for (int again = 0; again < 20; ++again) {
    coll_delay();
    upc_all_reduceD(result, elements, UPC_ADD, count, 3, NULL, 0);
    const double sum = NCUPC_GET(double, result);
    NCUPC_BARRIER();
    if (again == 0) first = sum;
    COLL_CHECK(memcmp(&sum, &first, sizeof sum) == 0, "%a, then %a", first, sum);
  }
}

/* The sum of no elements is undefined; dst stays unchanged. */
static void nothing_to_reduce(void) {
  if (MYTHREAD == 0) *(int*)coll_own(ncupc_address(result)) = 77;
  upc_all_reduceI(result, elements, UPC_ADD, 0, 4, NULL, 0);
  upc_all_prefix_reduceI(prefixes, elements, UPC_ADD, 0, 4, NULL, 0);
  COLL_CHECK(NCUPC_GET(int, result) == 77, "dst was changed");
  NCUPC_BARRIER();
}

int ncupc_main(int argc, char** argv) {
  const size_t rounds = argc > 1 ? (size_t)atol(argv[1]) : 10;
  most = argc > 2 ? (size_t)atol(argv[2]) : 20000;
  coll_seed(argc > 3 ? (uint64_t)atol(argv[3]) : 1);
  /* An array in blocks of b has fewer than b * THREADS elements beyond its first `most`. */
  elements = upc_all_alloc((size_t)THREADS, sizeof(long double) * 3 * most);
  prefixes = upc_all_alloc((size_t)THREADS, sizeof(long double) * 3 * most);
  result = upc_all_alloc((size_t)THREADS, sizeof(long double));
  for (size_t round = 0; round < rounds; ++round) {
#define ONE_ROUND(suffix, T) round_##suffix(round * 1000000);
    NCUPC_FOR_REDUCTION_TYPES(ONE_ROUND)
  }
  sum_is_the_same_again(most / 2);
  nothing_to_reduce();
  if (MYTHREAD == 0) printf("ok %zu rounds\n", rounds);
  return 0;
}
