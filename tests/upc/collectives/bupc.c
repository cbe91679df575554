/* Berkeley UPC's extensions: non-blocking and vectored copies, atomics, semaphores, collectives on
 * values, pointers. */
#include <complex.h> /* has a macro I */
#include <errno.h>

#include "coll.h"

enum { rows = 12, columns = 40 };

static int other(void) { return (MYTHREAD + 1) % THREADS; }

static void handles(void) {
  const ncupc_ptr shared = upc_all_alloc((size_t)THREADS, 4096);
  char out[1024], in[1024];
  for (size_t i = 0; i < sizeof out; ++i) out[i] = (char)(i * 7 + (size_t)MYTHREAD);
  const ncupc_ptr far = coll_at(other(), ncupc_address(shared));
  bupc_handle_t h[4] = {
      bupc_memput_async(far, out, 512), BUPC_COMPLETE_HANDLE,
      bupc_memput_async(coll_at(other(), ncupc_address(shared) + 512), out + 512, 512),
      bupc_memset_async(coll_at(other(), ncupc_address(shared) + 2048), 9, 100)};
  bupc_waitsync_all(h, 4);
  for (int i = 0; i < 4; ++i) COLL_CHECK(h[i] == BUPC_COMPLETE_HANDLE, "handle %d", i);
  COLL_CHECK(bupc_trysync_all(h, 4) == 1 && bupc_trysync_some(h, 4) == 1, "complete ones");
  bupc_waitsync_some(h, 0);
  bupc_waitsync(bupc_memcpy_async(coll_at(other(), ncupc_address(shared) + 1024), far, 1024));
  bupc_handle_t got[2] = {
      bupc_memget_async(in, coll_at(other(), ncupc_address(shared) + 1024), 512),
      bupc_memget_async(in + 512, coll_at(other(), ncupc_address(shared) + 1536), 512)};
  bupc_waitsync_some(got, 2);
  COLL_CHECK(got[0] == BUPC_COMPLETE_HANDLE || got[1] == BUPC_COMPLETE_HANDLE, "one of two");
  bupc_waitsync_all(got, 2);
  COLL_CHECK(memcmp(in, out, sizeof in) == 0, "copied");
  bupc_begin_accessregion();
  bupc_memget_asynci(in, coll_at(other(), ncupc_address(shared) + 2048), 100);
  const bupc_handle_t region = bupc_end_accessregion();
  while (!bupc_trysync(region)) {
  }
  COLL_CHECK(in[0] == 9 && in[99] == 9, "a region");
  bupc_begin_accessregion();
  COLL_CHECK(bupc_end_accessregion() == BUPC_COMPLETE_HANDLE, "an empty region");
  bupc_memput_asynci(far, out + 1, 100);
  bupc_waitsynci();
  bupc_memget_asynci(in, far, 100);
  COLL_CHECK(bupc_trysynci() == 1 && memcmp(in, out + 1, 100) == 0, "without handles");
  upc_all_free(shared);
}

/* Divides the same bytes at random, to compare with a copy byte by byte. */
static size_t divide(size_t bytes, size_t* lengths, size_t most) {
  size_t count = 0;
  while (count + 1 < most && bytes != 0) {
    lengths[count] = coll_next(&coll_private_state) % (bytes < 64 ? bytes + 1 : 64);
    bytes -= lengths[count++];
  }
  lengths[count++] = bytes;
  return count;
}

static void lists(int rounds) {
  enum { bytes = 1000, most = 60, room = 4096 };
  const ncupc_ptr a = upc_all_alloc((size_t)THREADS, room),
                  b = upc_all_alloc((size_t)THREADS, room);
  char *const mine = malloc(room), *const back = malloc(room);
  for (int round = 0; round < rounds; ++round) {
    size_t to_len[most], from_len[most];
    const size_t to_count = divide(bytes, to_len, most), from_count = divide(bytes, from_len, most);
    bupc_smemvec_t to[most], middle[most];
    bupc_pmemvec_t from[most], again[most];
    size_t at = 0;
    for (size_t i = 0; i < to_count; ++i) { /* with gaps of 8 bytes */
      to[i] = (bupc_smemvec_t){coll_at(other(), ncupc_address(a) + at + 8 * i), to_len[i]};
      middle[i] = (bupc_smemvec_t){coll_at(other(), ncupc_address(b) + at + 8 * i), to_len[i]};
      at += to_len[i];
    }
    at = 0;
    for (size_t i = 0; i < from_count; ++i) {
      from[i] = (bupc_pmemvec_t){mine + at + 8 * i, from_len[i]};
      again[i] = (bupc_pmemvec_t){back + at + 8 * i, from_len[i]};
      at += from_len[i];
    }
    for (size_t i = 0; i < room; ++i) mine[i] = (char)coll_next(&coll_private_state);
    memset(back, 0, room);
    upc_memset(coll_at(other(), ncupc_address(a)), 1, room);
    bupc_memput_vlist(to_count, to, from_count, from);
    bupc_waitsync(bupc_memcpy_vlist_async(to_count, middle, to_count, to));
    bupc_memget_vlist(from_count, again, to_count, middle);
    for (size_t i = 0; i < from_count; ++i)
      COLL_CHECK(memcmp(from[i].addr, again[i].addr, from_len[i]) == 0, "run %zu", i);
    char gap;
    upc_memget(&gap, ncupc_add_bytes(to[0].addr, (ptrdiff_t)to_len[0]), 1);
    COLL_CHECK(gap == 1, "a gap was written");
  }
  NCUPC_BARRIER();
  ncupc_ptr to_list[10];
  const void* from_list[5];
  void* back_list[20];
  for (int i = 0; i < 10; ++i)
    to_list[i] =
        coll_at((MYTHREAD + i) % THREADS, ncupc_address(a) + (uint64_t)(MYTHREAD * 10 + i) * 20);
  for (int i = 0; i < 5; ++i) from_list[i] = mine + 100 * i;
  for (int i = 0; i < 20; ++i) back_list[i] = back + 10 * i;
  bupc_memput_ilist(10, to_list, 20, 5, from_list, 40);
  bupc_waitsync(bupc_memget_ilist_async(20, back_list, 10, 10, to_list, 20));
  for (int i = 0; i < 5; ++i)
    COLL_CHECK(memcmp(back + 40 * i, mine + 100 * i, 40) == 0, "list %d", i);
  upc_all_free(a);
  upc_all_free(b);
  free(mine);
  free(back);
}

/* A part of a matrix, and of a cube. */
static void strides(void) {
  const ncupc_ptr cube = upc_all_alloc((size_t)THREADS, 4 * rows * columns);
  char mine[rows * columns], back[rows * columns], part[3 * 5 * 7], got[3 * 5 * 7];
  for (size_t i = 0; i < sizeof mine; ++i) mine[i] = (char)(i + (size_t)MYTHREAD);
  const ncupc_ptr far = coll_at(other(), ncupc_address(cube));
  upc_memset(far, 0, 4 * rows * columns);
  bupc_memput_fstrided(ncupc_add_bytes(far, 3), 10, columns, 8, mine, 20, columns, 4);
  upc_memget(back, far, sizeof back);
  for (size_t i = 0; i < 80; ++i)
    COLL_CHECK(back[3 + i / 10 * columns + i % 10] == mine[i / 20 * columns + i % 20], "byte %zu",
               i);
  COLL_CHECK(back[2] == 0 && back[13] == 0, "beside it");
  bupc_waitsync(bupc_memget_fstrided_async(got, 80, 0, 1, ncupc_add_bytes(far, 3), 10, columns, 8));
  for (size_t i = 0; i < 80; ++i)
    COLL_CHECK(got[i] == mine[i / 20 * columns + i % 20], "byte %zu back", i);
  const size_t count[] = {3, 5, 7}, in_cube[] = {columns, columns * 6}, dense[] = {3, 15};
  for (size_t i = 0; i < sizeof part; ++i) part[i] = (char)(100 - i);
  bupc_memput_strided(far, in_cube, part, dense, count, 2);
  bupc_memcpy_strided(ncupc_add_bytes(far, 20), in_cube, far, in_cube, count, 2);
  bupc_memget_strided(got, dense, ncupc_add_bytes(far, 20), in_cube, count, 2);
  COLL_CHECK(memcmp(got, part, sizeof part) == 0, "a part of a cube");
  const size_t none[] = {3, 0, 7};
  memset(got, 55, sizeof got);
  bupc_memget_strided(got, dense, far, in_cube, none, 2);
  COLL_CHECK(got[0] == 55, "an empty part");
  const size_t line[] = {5};
  bupc_memget_strided(got, NULL, far, NULL, line, 0);
  COLL_CHECK(memcmp(got, part, 3) == 0 && got[5] == 55, "no dimensions");
  upc_all_free(cube);
}

#define ATOMICS(name, T)                                                                  \
  do {                                                                                    \
    const ncupc_ptr p = coll_at(other(), ncupc_address(word) + 8);                        \
    T here = (T)5, *const own_shared = (T*)coll_own(ncupc_address(word) + 16);            \
    name##_set_strict(p, (T)5);                                                           \
    COLL_CHECK(name##_swap_relaxed(p, (T)9) == (T)5, #name);                              \
    COLL_CHECK(name##_fetchadd_strict(p, (T)2) == (T)9, #name);                           \
    COLL_CHECK(name##_cswap_relaxed(p, (T)3, (T)4) == (T)11, #name);                      \
    COLL_CHECK(name##_cswap_strict(p, (T)11, (T)12) == (T)11, #name);                     \
    COLL_CHECK(name##_read_relaxed(p) == (T)12 && name##_read_strict(p) == (T)12, #name); \
    COLL_CHECK(name##_fetchadd_private(&here, (T)3) == (T)5 && here == (T)8, #name);      \
    COLL_CHECK(name##_cswap_private(&here, (T)7, (T)1) == (T)8 && here == (T)8, #name);   \
    COLL_CHECK(name##_cswap_private(&here, (T)8, (T)1) == (T)8 && here == (T)1, #name);   \
    name##_set_private(own_shared, (T)6);                                                 \
    COLL_CHECK(name##_read_private(own_shared) == (T)6, #name);                           \
  } while (0);
#define ATOMIC_BITS(name, T)                                                                \
  do {                                                                                      \
    const ncupc_ptr p = coll_at(other(), ncupc_address(word) + 8);                          \
    T here = (T)12;                                                                         \
    ATOMICS(name, T)                                                                        \
    COLL_CHECK(name##_fetchand_strict(p, (T)10) == (T)12, #name);                           \
    COLL_CHECK(name##_fetchor_relaxed(p, (T)3) == (T)8, #name);                             \
    COLL_CHECK(name##_fetchxor_strict(p, (T)1) == (T)11, #name);                            \
    COLL_CHECK(name##_fetchnot_relaxed(p) == (T)10, #name);                                 \
    COLL_CHECK(name##_mswap_strict(p, (T)15, (T)6) == (T) ~(T)10, #name);                   \
    COLL_CHECK(name##_read_strict(p) == (T)((T) ~(T)15 | (T)6), #name);                     \
    COLL_CHECK(name##_fetchnot_private(&here) == (T)12 && here == (T) ~(T)12, #name);       \
    COLL_CHECK(name##_mswap_private(&here, (T)3, (T)0) == (T) ~(T)12 && here == (T) ~(T)15, \
               #name);                                                                      \
  } while (0);

static void atomics(int rounds) {
  const ncupc_ptr word = upc_all_alloc((size_t)THREADS, 64);
  NCUPC_FOR_ATOMIC_INTEGERS(ATOMIC_BITS)
  NCUPC_FOR_ATOMIC_FLOATS(ATOMICS)
  const ncupc_ptr counter = coll_at(0, ncupc_address(word) + 32),
                  bits = coll_at(THREADS - 1, ncupc_address(word) + 40);
  if (MYTHREAD == 0) {
    bupc_atomicI64_set_strict(counter, 0);
    bupc_atomicU32_set_strict(bits, 0);
  }
  NCUPC_BARRIER();
  for (int i = 0; i < rounds; ++i) (void)bupc_atomicI64_fetchadd_relaxed(counter, MYTHREAD + 1);
  (void)bupc_atomicU32_fetchor_relaxed(bits, 1u << MYTHREAD);
  NCUPC_BARRIER();
  COLL_CHECK(bupc_atomicI64_read_strict(counter) == (int64_t)rounds * THREADS * (THREADS + 1) / 2,
             "sum");
  COLL_CHECK(bupc_atomicU32_read_relaxed(bits) == (1u << THREADS) - 1, "bits");
  upc_all_free(word);
}

static void semaphores(int rounds) {
  const ncupc_ptr table = upc_all_alloc((size_t)THREADS, 2 * sizeof(ncupc_ptr)),
                  data = upc_all_alloc((size_t)THREADS, 256);
  const ncupc_ptr mine = bupc_sem_alloc(0),
                  flag = bupc_sem_alloc(BUPC_SEM_BOOLEAN | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER);
  NCUPC_PUT(ncupc_ptr, coll_at(MYTHREAD, ncupc_address(table)), mine);
  NCUPC_PUT(ncupc_ptr, coll_at(MYTHREAD, ncupc_address(table) + sizeof(ncupc_ptr)), flag);
  NCUPC_BARRIER();
  const ncupc_ptr next = NCUPC_GET(ncupc_ptr, coll_at(other(), ncupc_address(table)));
  const ncupc_ptr next_flag =
      NCUPC_GET(ncupc_ptr, coll_at(other(), ncupc_address(table) + sizeof(ncupc_ptr)));
  COLL_CHECK(bupc_sem_try(mine) == 0 && bupc_sem_tryN(mine, 3) == 0, "nothing there");
  bupc_sem_postN(mine, 5);
  COLL_CHECK(bupc_sem_tryN(mine, 6) == 0 && bupc_sem_tryN(mine, 3) == 1 && bupc_sem_try(mine) == 1,
             "five");
  bupc_sem_wait(mine);
  COLL_CHECK(bupc_sem_try(mine) == 0, "used up");
  bupc_sem_waitN(mine, 0);
  NCUPC_BARRIER();
  /* Each thread sends to the next and waits for the previous one; the data arrive before the post.
   * */
  for (int round = 1; round <= rounds; ++round) {
    char message[256], got[256];
    memset(message, round, sizeof message);
    (round % 2 ? bupc_memput_signal : bupc_memput_signal_async)(
        coll_at(other(), ncupc_address(data)), message, sizeof message, next, 2);
    bupc_sem_waitN(mine, 2);
    memcpy(got, coll_own(ncupc_address(data)), sizeof got);
    COLL_CHECK(got[0] == (char)round && got[255] == (char)round, "round %d: %d", round, got[0]);
    bupc_sem_post(next_flag); /* may send again */
    bupc_sem_wait(flag);
    NCUPC_BARRIER();
  }
  bupc_sem_post(flag);
  bupc_sem_post(flag);
  COLL_CHECK(bupc_sem_try(flag) == 1 && bupc_sem_try(flag) == 0, "a boolean one");
  /* All threads take from one. */
  const ncupc_ptr first = NCUPC_GET(ncupc_ptr, coll_at(0, ncupc_address(table)));
  if (MYTHREAD == THREADS - 1) bupc_sem_postN(first, (size_t)THREADS);
  bupc_sem_wait(first);
  NCUPC_BARRIER();
  COLL_CHECK(bupc_sem_try(first) == 0, "one for each");
  NCUPC_BARRIER();
  bupc_sem_free(next);
  bupc_sem_free(flag);
  bupc_sem_free(NCUPC_NULL);
}

typedef struct {
  int a;
  char text[60];
} structure;

/* Thread k contributes k + 1. */
#define REDUCED(T, operation, combined)                                                        \
  do {                                                                                         \
    T a = 1;                                                                                   \
    for (int k = 1; k < THREADS; ++k) {                                                        \
      const T b = (T)(k + 1);                                                                  \
      a = (T)(combined);                                                                       \
    }                                                                                          \
    COLL_CHECK(bupc_allv_reduce_all(T, (T)(MYTHREAD + 1), operation) == a, #T " " #operation); \
  } while (0)
#define REDUCED_NUMBERS(T)              \
  do {                                  \
    REDUCED(T, UPC_ADD, a + b);         \
    REDUCED(T, UPC_MULT, a* b);         \
    REDUCED(T, UPC_LOGAND, a&& b);      \
    REDUCED(T, UPC_LOGOR, a || b);      \
    REDUCED(T, UPC_MIN, a < b ? a : b); \
    REDUCED(T, UPC_MAX, a > b ? a : b); \
  } while (0)
#define REDUCED_INTEGERS(T)     \
  do {                          \
    REDUCED_NUMBERS(T);         \
    REDUCED(T, UPC_AND, a& b);  \
    REDUCED(T, UPC_OR, a | b);  \
    REDUCED(T, UPC_XOR, a ^ b); \
  } while (0)

static void values_of_every_type(void) {
  REDUCED_INTEGERS(signed char);
  REDUCED_INTEGERS(short);
  REDUCED_INTEGERS(int);
  REDUCED_INTEGERS(long);
  REDUCED_INTEGERS(unsigned char);
  REDUCED_INTEGERS(unsigned short);
  REDUCED_INTEGERS(unsigned);
  REDUCED_INTEGERS(unsigned long);
  REDUCED_NUMBERS(float);
  REDUCED_NUMBERS(double);
  REDUCED_NUMBERS(long double);
}

static void values(void) {
  for (int root = 0; root < THREADS; ++root) {
    const int i = 100 + MYTHREAD;
    structure s = {MYTHREAD, ""};
    snprintf(s.text, sizeof s.text, "thread %d", MYTHREAD);
    COLL_CHECK(bupc_allv_broadcast(int, i, root) == 100 + root, "root %d", root);
    const structure from = bupc_allv_broadcast(structure, s, root);
    COLL_CHECK(from.a == root && atoi(from.text + 7) == root, "%s", from.text);
    short array[64];
    for (int k = 0; k < THREADS; ++k) array[k] = (short)(k * 3 + root);
    COLL_CHECK(
        bupc_allv_scatter(short, root, MYTHREAD == root ? array : NULL) == MYTHREAD * 3 + root,
        "scatter");
    double all[64];
    const double mine = MYTHREAD / 4.0;
    double* const at = bupc_allv_gather(double, mine, root, MYTHREAD == root ? all : NULL);
    COLL_CHECK(at == (MYTHREAD == root ? all : NULL), "gather returns its array");
    for (int k = 0; k < THREADS && MYTHREAD == root; ++k) COLL_CHECK(all[k] == k / 4.0, "%d", k);
    const long sum = bupc_allv_reduce(long, i, root, UPC_ADD);
    COLL_CHECK(MYTHREAD != root || sum == 100L * THREADS + THREADS * (THREADS - 1) / 2, "%ld", sum);
  }
  char letters[64];
  COLL_CHECK(bupc_allv_gather_all(char, (char)('a' + MYTHREAD), letters) == letters &&
                 letters[THREADS - 1] == 'a' + THREADS - 1,
             "all");
  COLL_CHECK(bupc_allv_gather(int, MYTHREAD, -1, NULL) == NULL, "to nobody");
  COLL_CHECK(bupc_allv_permute(int, MYTHREAD * 10, (MYTHREAD + 1) % THREADS) ==
                 (MYTHREAD + THREADS - 1) % THREADS * 10,
             "permute");
  values_of_every_type();
  COLL_CHECK(bupc_allv_reduce_all(signed char, (signed char)-MYTHREAD, UPC_MIN) == -(THREADS - 1),
             "signed");
  COLL_CHECK(bupc_allv_reduce_all(unsigned char, (unsigned char)(255 - MYTHREAD), UPC_MAX) == 255,
             "unsigned");
  COLL_CHECK(bupc_allv_reduce_all(unsigned, 1u << MYTHREAD, UPC_OR) == (1u << THREADS) - 1, "or");
  COLL_CHECK(bupc_allv_reduce_all(float, 0.5F, UPC_ADD) == 0.5F * (float)THREADS, "float");
  COLL_CHECK(bupc_allv_prefix_reduce(long double, 2.0L, UPC_MULT) == (long double)(2UL << MYTHREAD),
             "prefix");
  COLL_CHECK(bupc_allv_prefix_reduce(int, MYTHREAD, UPC_ADD) == MYTHREAD * (MYTHREAD + 1) / 2,
             "prefix");
}

static void pointers(void) {
  const ncupc_ptr block = upc_all_alloc((size_t)THREADS, 128);
  char* const mine = coll_own(ncupc_address(block));
  char text[BUPC_DUMP_MIN_LENGTH], expected[40];
  COLL_CHECK(bupc_dump_shared(ncupc_make(ncupc_address(block), (size_t)other(), 3), text,
                              sizeof text) == 0,
             "dump");
  snprintf(expected, sizeof expected, "thread=%d, phase=3>", other());
  COLL_CHECK(strstr(text, expected) != NULL, "%s", text);
  errno = 0;
  COLL_CHECK(bupc_dump_shared(block, text, BUPC_DUMP_MIN_LENGTH - 1) == -1 && errno == EINVAL,
             "too short");
  COLL_CHECK(bupc_cast(coll_at(MYTHREAD, ncupc_address(block))) == mine &&
                 bupc_castable(NCUPC_NULL) && bupc_thread_castable((unsigned)MYTHREAD),
             "cast");
  COLL_CHECK(ncupc_equal(bupc_inverse_cast(mine + 5), coll_at(MYTHREAD, ncupc_address(block) + 5)),
             "inverse");
  COLL_CHECK(ncupc_is_null(bupc_inverse_cast(text)) && ncupc_is_null(bupc_inverse_cast(NULL)),
             "inverse of private memory");
  COLL_CHECK(
      ncupc_equal(bupc_local_to_shared(mine, other(), 2), coll_at(other(), ncupc_address(block))),
      "local to shared");
  COLL_CHECK(upc_phaseof(bupc_local_to_shared(mine, other(), 2)) == 2, "its phase");
  COLL_CHECK(ncupc_equal(bupc_ptradd(block, 4, 2, 9), ncupc_add(block, 9, 2, 4)), "ptradd");
  for (int x = 0; x < THREADS; ++x) {
    for (int y = 0; y < THREADS; ++y) {
      const unsigned distance = bupc_thread_distance(x, y);
      COLL_CHECK(
          distance == bupc_thread_distance(y, x) && (distance == BUPC_THREADS_SAME) == (x == y),
          "%d and %d", x, y);
      if (x == MYTHREAD && x != y)
        COLL_CHECK((distance == BUPC_THREADS_VERYNEAR) == (bupc_thread_castable((unsigned)y) != 0),
                   "%u", distance);
    }
  }
  COLL_CHECK(bupc_getenv("PATH") != NULL && bupc_getenv("no such variable") == NULL, "getenv");
  bupc_trace_printf(("%d", 1));
  bupc_poll();
  upc_all_free(block);
}

int ncupc_main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  coll_seed(1);
  handles();
  lists(rounds);
  strides();
  atomics(rounds);
  semaphores(rounds);
  values();
  pointers();
  NCUPC_BARRIER();
  if (MYTHREAD == 0) printf("ok bupc\n");
  return 0;
}
