/* The optional libraries: atomics from all threads at once, non-blocking copies, castable memory,
 * ticks. */
#include "coll.h"

static int rounds;

/* Every thread adds to every thread's counters; two 32-bit ones share a word. */
static void counters(void) {
  const ncupc_ptr ints = upc_all_alloc((size_t)THREADS, 2 * sizeof(int)),
                  longs = upc_all_alloc((size_t)THREADS, sizeof(uint64_t));
  const ncupc_ptr floats = upc_all_alloc((size_t)THREADS, 2 * sizeof(float)),
                  doubles = upc_all_alloc((size_t)THREADS, sizeof(double));
  const ncupc_ptr on_ints = upc_all_atomicdomain_alloc(
      UPC_INT32, UPC_ADD | UPC_DEC | UPC_GET | UPC_INC, UPC_ATOMIC_HINT_DEFAULT);
  const ncupc_ptr on_longs =
      upc_all_atomicdomain_alloc(UPC_UINT64, UPC_ADD | UPC_SUB | UPC_GET, UPC_ATOMIC_HINT_LATENCY);
  const ncupc_ptr on_floats =
      upc_all_atomicdomain_alloc(UPC_FLOAT, UPC_ADD | UPC_GET, UPC_ATOMIC_HINT_THROUGHPUT);
  const ncupc_ptr on_doubles =
      upc_all_atomicdomain_alloc(UPC_DOUBLE, UPC_ADD | UPC_SUB | UPC_GET, 0);
  memset(coll_own(ncupc_address(ints)), 0, 2 * sizeof(int));
  memset(coll_own(ncupc_address(longs)), 0, sizeof(uint64_t));
  memset(coll_own(ncupc_address(floats)), 0, 2 * sizeof(float));
  memset(coll_own(ncupc_address(doubles)), 0, sizeof(double));
  NCUPC_BARRIER();
  const int three = 3;
  const uint64_t large = 1ul << 40, one = 1;
  const float half = 0.5F;
  const double quarter = 0.25, eighth = 0.125;
  for (int i = 0; i < rounds; ++i) {
    const int thread = (MYTHREAD + i) % THREADS;
    const uint64_t at_int = ncupc_address(ints), at_float = ncupc_address(floats);
    upc_atomic_relaxed(on_ints, NULL, UPC_ADD, coll_at(thread, at_int), &three, NULL);
    upc_atomic_relaxed(on_ints, NULL, UPC_DEC, coll_at(thread, at_int + sizeof(int)), NULL, NULL);
    upc_atomic_strict(on_longs, NULL, UPC_ADD, coll_at(thread, ncupc_address(longs)), &large, NULL);
    upc_atomic_relaxed(on_longs, NULL, UPC_SUB, coll_at(thread, ncupc_address(longs)), &one, NULL);
    upc_atomic_relaxed(on_floats, NULL, UPC_ADD, coll_at(thread, at_float + sizeof(float)), &half,
                       NULL);
    upc_atomic_relaxed(on_doubles, NULL, UPC_ADD, coll_at(thread, ncupc_address(doubles)), &quarter,
                       NULL);
    upc_atomic_strict(on_doubles, NULL, UPC_SUB, coll_at(thread, ncupc_address(doubles)), &eighth,
                      NULL);
  }
  NCUPC_BARRIER();
  for (int thread = 0; thread < THREADS; ++thread) {
    int times = 0; /* that threads passed here */
    for (int other = 0; other < THREADS; ++other) {
      for (int i = 0; i < rounds; ++i) times += (other + i) % THREADS == thread;
    }
    int low, high;
    uint64_t wide;
    float sum;
    double difference;
    upc_atomic_relaxed(on_ints, &low, UPC_GET, coll_at(thread, ncupc_address(ints)), NULL, NULL);
    upc_atomic_strict(on_ints, &high, UPC_GET, coll_at(thread, ncupc_address(ints) + sizeof(int)),
                      NULL, NULL);
    upc_atomic_relaxed(on_longs, &wide, UPC_GET, coll_at(thread, ncupc_address(longs)), NULL, NULL);
    upc_atomic_relaxed(on_floats, &sum, UPC_GET,
                       coll_at(thread, ncupc_address(floats) + sizeof(float)), NULL, NULL);
    upc_atomic_relaxed(on_doubles, &difference, UPC_GET, coll_at(thread, ncupc_address(doubles)),
                       NULL, NULL);
    COLL_CHECK(low == 3 * times && high == -times, "%d and %d of %d", low, high, times);
    COLL_CHECK(wide == (uint64_t)times * (large - 1), "%lu of %d", (unsigned long)wide, times);
    COLL_CHECK(sum == half * (float)times && difference == eighth * times, "%g and %g of %d",
               (double)sum, difference, times);
  }
  upc_all_atomicdomain_free(on_ints);
  upc_all_atomicdomain_free(on_longs);
  upc_all_atomicdomain_free(on_floats);
  upc_all_atomicdomain_free(on_doubles);
}

/* Checks the result of each operation on an old value, and that it returns the old value. */
#define ONE_OPERATION(T, type, op, before, operand1, operand2, after)                        \
  do {                                                                                       \
    const ncupc_ptr domain = upc_all_atomicdomain_alloc(type, op | UPC_GET | UPC_SET, 0);    \
    const ncupc_ptr target = coll_at((MYTHREAD + 1) % THREADS, ncupc_address(block) + 8);    \
    const T first = (T)(before), a = (T)(operand1), b = (T)(operand2);                       \
    T old, now;                                                                              \
    upc_atomic_strict(domain, NULL, UPC_SET, target, &first, NULL);                          \
    upc_atomic_relaxed(domain, &old, op, target, op == UPC_INC || op == UPC_DEC ? NULL : &a, \
                       op == UPC_CSWAP ? &b : NULL);                                         \
    upc_atomic_relaxed(domain, &now, UPC_GET, target, NULL, NULL);                           \
    COLL_CHECK(old == first && now == (T)(after), "%g became %g", (double)old, (double)now); \
    upc_all_atomicdomain_free(domain);                                                       \
  } while (0)

#define NUMBERS(T, type)                                            \
  ONE_OPERATION(T, type, UPC_ADD, 5, 7, 0, 12);                     \
  ONE_OPERATION(T, type, UPC_SUB, 5, 7, 0, (T)5 - (T)7);            \
  ONE_OPERATION(T, type, UPC_MULT, 5, 7, 0, 35);                    \
  ONE_OPERATION(T, type, UPC_INC, 5, 0, 0, 6);                      \
  ONE_OPERATION(T, type, UPC_DEC, 5, 0, 0, 4);                      \
  ONE_OPERATION(T, type, UPC_MIN, 5, -7, 0, (T)-7 < (T)5 ? -7 : 5); \
  ONE_OPERATION(T, type, UPC_MAX, 5, -7, 0, (T)-7 < (T)5 ? 5 : -7); \
  ONE_OPERATION(T, type, UPC_SET, 5, 7, 0, 7);                      \
  ONE_OPERATION(T, type, UPC_CSWAP, 5, 5, 9, 9);                    \
  ONE_OPERATION(T, type, UPC_CSWAP, 5, 6, 9, 5)
#define INTEGERS(T, type)                       \
  NUMBERS(T, type);                             \
  ONE_OPERATION(T, type, UPC_AND, 13, 7, 0, 5); \
  ONE_OPERATION(T, type, UPC_OR, 13, 7, 0, 15); \
  ONE_OPERATION(T, type, UPC_XOR, 13, 7, 0, 10)

static void operations(void) {
  const ncupc_ptr block = upc_all_alloc((size_t)THREADS, 16);
  INTEGERS(int, UPC_INT);
  INTEGERS(unsigned, UPC_UINT);
  INTEGERS(long, UPC_LONG);
  INTEGERS(unsigned long, UPC_ULONG);
  INTEGERS(int32_t, UPC_INT32);
  INTEGERS(uint32_t, UPC_UINT32);
  INTEGERS(int64_t, UPC_INT64);
  INTEGERS(uint64_t, UPC_UINT64);
  NUMBERS(float, UPC_FLOAT);
  NUMBERS(double, UPC_DOUBLE);
  COLL_CHECK(upc_atomic_isfast(UPC_INT64, UPC_ADD | UPC_GET, block) &&
                 !upc_atomic_isfast(UPC_INT32, UPC_ADD, block),
             "isfast");
}

/* A list of all threads' nodes, pushed by compare-and-swap of pointers-to-shared. */
static void pointers(void) {
  const ncupc_ptr head = upc_all_alloc(1, sizeof(ncupc_ptr)),
                  nodes = upc_all_alloc((size_t)THREADS, 100 * sizeof(ncupc_ptr));
  const ncupc_ptr domain = upc_all_atomicdomain_alloc(UPC_PTS, UPC_GET | UPC_SET | UPC_CSWAP, 0);
  const ncupc_ptr null = NCUPC_NULL;
  if (MYTHREAD == THREADS - 1) upc_atomic_strict(domain, NULL, UPC_SET, head, &null, NULL);
  NCUPC_BARRIER();
  for (size_t i = 0; i < 20; ++i) {
    const ncupc_ptr node = coll_at(MYTHREAD, ncupc_address(nodes) + i * sizeof(ncupc_ptr));
    ncupc_ptr first, old;
    upc_atomic_relaxed(domain, &first, UPC_GET, head, NULL, NULL);
    for (;;) {
      NCUPC_PUT(ncupc_ptr, node, first);
      upc_atomic_strict(domain, &old, UPC_CSWAP, head, &first, &node);
      if (ncupc_equal(old, first)) break;
      first = old;
    }
  }
  NCUPC_BARRIER();
  int length = 0;
  for (ncupc_ptr p = NCUPC_GET(ncupc_ptr, head); !ncupc_is_null(p); p = NCUPC_GET(ncupc_ptr, p))
    ++length;
  COLL_CHECK(length == 20 * THREADS, "%d", length);
  upc_all_atomicdomain_free(domain);
}

static void copies_without_blocking(void) {
  enum { BYTES = 30000 };
  const ncupc_ptr memory = upc_all_alloc((size_t)THREADS, 3 * BYTES);
  const int next = (MYTHREAD + 1) % THREADS;
  char *const out = malloc(2 * BYTES), *const in = malloc(2 * BYTES);
  for (int i = 0; i < 2 * BYTES; ++i) out[i] = (char)(i * 7 + MYTHREAD);
  const ncupc_ptr there = coll_at(next, ncupc_address(memory));
  const upc_handle_t first = upc_memput_nb(there, out, BYTES);
  upc_memput_nbi(ncupc_field(there, BYTES), out + BYTES, BYTES / 2);
  upc_memput_nbi(ncupc_field(there, BYTES + BYTES / 2), out + BYTES + BYTES / 2, BYTES / 2);
  upc_sync(first);
  COLL_CHECK(upc_sync_attempt(first) == 1 && upc_sync_attempt(UPC_COMPLETE_HANDLE) == 1,
             "complete again");
  upc_synci();
  NCUPC_BARRIER();
  const upc_handle_t second = upc_memget_nb(in, there, BYTES);
  upc_memget_nbi(in + BYTES, ncupc_field(there, BYTES), BYTES);
  while (!upc_sync_attempt(second)) continue;
  while (!upc_synci_attempt()) continue;
  COLL_CHECK(memcmp(in, out, 2 * BYTES) == 0, "what was put comes back");
  upc_sync(upc_memset_nb(ncupc_field(there, 2 * BYTES), 5, BYTES));
  upc_memset_nbi(ncupc_field(there, 2 * BYTES), 6, 100);
  upc_synci();
  upc_sync(upc_memcpy_nb(ncupc_field(there, 100), ncupc_field(there, 2 * BYTES), 200));
  upc_memcpy_nbi(ncupc_field(coll_at(MYTHREAD, ncupc_address(memory)), 2 * BYTES),
                 ncupc_field(there, 100), 0);
  upc_synci();
  upc_memget(in, there, 400);
  COLL_CHECK(in[99] == out[99] && in[100] == 6 && in[199] == 6 && in[200] == 5 && in[299] == 5 &&
                 in[300] == out[300],
             "set and copied");
  free(out);
  free(in);
}

static void castable(void) {
  const ncupc_ptr memory = upc_all_alloc((size_t)THREADS, 8);
  for (int thread = 0; thread < THREADS; ++thread) {
    const ncupc_ptr p = coll_at(thread, ncupc_address(memory));
    const upc_thread_info_t info = upc_thread_info((size_t)thread);
    long* const near = upc_cast(p);
    COLL_CHECK((near != NULL) == ((info.guaranteedCastable & UPC_CASTABLE_ALL_ALLOC) != 0),
               "of thread %d", thread);
    COLL_CHECK(near != NULL || thread != MYTHREAD, "own memory");
    NCUPC_BARRIER();
    if (MYTHREAD == THREADS - 1) NCUPC_PUT(long, p, 42 + thread);
    NCUPC_BARRIER();
    COLL_CHECK(near == NULL || *near == 42 + thread, "%ld", *near);
  }
  COLL_CHECK(upc_cast(NCUPC_NULL) == NULL, "the null pointer");
}

static void ticks(void) {
  const upc_tick_t start = upc_ticks_now();
  const struct timespec pause = {0, 2000000};
  nanosleep(&pause, NULL);
  const upc_tick_t end = upc_ticks_now();
  COLL_CHECK(end > start && upc_ticks_to_ns(end - start) >= 2000000, "%lu ns",
             (unsigned long)upc_ticks_to_ns(end - start));
  COLL_CHECK(start > UPC_TICK_MIN && end < UPC_TICK_MAX, "limits");
  COLL_CHECK(bupc_ticks_to_us(end - start) == bupc_ticks_to_ns(end - start) / 1000, "microseconds");
  COLL_CHECK(bupc_ticks_now() >= end && bupc_tick_granularity() > 0 && bupc_tick_overhead() > 0,
             "Berkeley's");
}

int ncupc_main(int argc, char** argv) {
  rounds = argc > 1 ? atoi(argv[1]) : 200;
  counters();
  operations();
  pointers();
  copies_without_blocking();
  castable();
  ticks();
  if (MYTHREAD == 0) printf("ok %d rounds\n", rounds);
  return 0;
}
