/* Relaxed and strict accesses of all kinds against a private copy: each thread writes elements of
 * its own choice anywhere, so that neighbours in a line have different writers; at the end every
 * thread reads what the others wrote. */
#include <string.h>

#include "check.h"

struct point {
  double x, y;
  int tag;
};
struct fields {
  unsigned a : 3;
  int b : 9;
  _Bool c : 1;
  unsigned long long d : 37;
  signed char e;
  unsigned f : 32;
};

enum { elements = 3000, block = 7 };
static ncupc_ptr words, points, bits, bytes, pointers;

static void place(void) {
  ncupc_place(&words, "words", sizeof(uint64_t), elements, block, NCUPC_HERE);
  ncupc_place(&points, "points", sizeof(struct point), elements, 1, NCUPC_HERE);
  ncupc_place(&bits, "bits", sizeof(struct fields), elements, 3, NCUPC_HERE);
  ncupc_place(&bytes, "bytes", 1, elements, 13, NCUPC_HERE);
  ncupc_place(&pointers, "pointers", sizeof(ncupc_ptr), elements, 1, NCUPC_HERE);
}
NCUPC_MODULE("upc_accesses.c", place, NULL);

static uint64_t my_words[elements];
static struct point my_points[elements];
static struct fields my_bits[elements];
static unsigned char my_bytes[elements];

static int writer_of(size_t i) { return (int)(i / 5 % (size_t)THREADS); }
static ncupc_ptr word_at(size_t i) {
  return ncupc_add(words, (ptrdiff_t)i, sizeof(uint64_t), block);
}
static ncupc_ptr point_at(size_t i) {
  return ncupc_add(points, (ptrdiff_t)i, sizeof(struct point), 1);
}
static ncupc_ptr bits_at(size_t i) {
  return ncupc_add(bits, (ptrdiff_t)i, sizeof(struct fields), 3);
}
static ncupc_ptr byte_at(size_t i) { return ncupc_add(bytes, (ptrdiff_t)i, 1, 13); }

static void word_step(uint64_t* random, size_t i) {
  const ncupc_ptr p = word_at(i);
  const uint64_t value = next_random(random);
  const size_t at = below(random, 2) * 4;
  switch (below(random, 9)) {
    case 0:
      CHECK(NCUPC_PUT(uint64_t, p, value) == value);
      my_words[i] = value;
      break;
    case 1:
      CHECK(NCUPC_PUT_STRICT(uint64_t, p, value) == value);
      my_words[i] = value;
      break;
    case 2:
      NCUPC_PUT(uint32_t, ncupc_field(p, at), (uint32_t)value);
      memcpy((char*)&my_words[i] + at, &(uint32_t){(uint32_t)value}, 4);
      break;
    case 3:
      NCUPC_PUT(uint16_t, ncupc_field(p, at), (uint16_t)value);
      memcpy((char*)&my_words[i] + at, &(uint16_t){(uint16_t)value}, 2);
      break;
    case 4:
      upc_memput(p, &value, sizeof value);
      my_words[i] = value;
      break;
    case 5:
      upc_memset(p, (int)(value & 255), sizeof value);
      memset(&my_words[i], (int)(value & 255), sizeof value);
      break;
    case 6:
      CHECK(NCUPC_GET_STRICT(uint64_t, p) == my_words[i], "word %zu", i);
      break;
    case 7: {
      uint32_t half = 0;
      memcpy(&half, (char*)&my_words[i] + at, sizeof half);
      CHECK(NCUPC_GET(uint32_t, ncupc_field(p, at)) == half, "half of word %zu", i);
      CHECK(NCUPC_GET_STRICT(uint32_t, ncupc_field(p, at)) == half, "half of word %zu", i);
      break;
    }
    default:
      CHECK(NCUPC_GET(const uint64_t, p) == my_words[i], "word %zu", i);
  }
  if (below(random, 3) == 0) CHECK(NCUPC_GET(uint64_t, p) == my_words[i], "word %zu", i);
}

static void point_step(uint64_t* random, size_t i) {
  const ncupc_ptr p = point_at(i);
  struct point value = {(double)below(random, 1000), (double)below(random, 1000),
                        (int)below(random, 1000)};
  switch (below(random, 5)) {
    case 0:
      value = NCUPC_PUT(struct point, p, value);
      my_points[i] = value;
      break;
    case 1:
      value = NCUPC_PUT_STRICT(struct point, p, value);
      my_points[i] = value;
      break;
    case 2:
      NCUPC_PUT(int, ncupc_field(p, offsetof(struct point, tag)), value.tag);
      my_points[i].tag = value.tag;
      break;
    case 3:
      value = NCUPC_GET_RECORD_STRICT(struct point, p);
      CHECK(value.x == my_points[i].x && value.tag == my_points[i].tag, "point %zu", i);
      break;
    default:
      value = NCUPC_GET_RECORD(struct point, p);
      CHECK(value.y == my_points[i].y && value.tag == my_points[i].tag, "point %zu", i);
  }
}

static void bits_step(uint64_t* random, size_t i) {
  const ncupc_ptr p = bits_at(i);
  const uint64_t value = next_random(random);
  switch (below(random, 6)) {
    case 0:
      CHECK(NCUPC_PUT_BITS(struct fields, a, p, value) == (value & 7));
      my_bits[i].a = value & 7;
      break;
    case 1:
      my_bits[i].b = (int)(value % 256) - 128;
      NCUPC_PUT_BITS(struct fields, b, p, (int)(value % 256) - 128);
      break;
    case 2:
      my_bits[i].c = (value & 1) != 0;
      NCUPC_PUT_BITS_STRICT(struct fields, c, p, (value & 1) != 0);
      break;
    case 3:
      my_bits[i].d = value & 0x1fffffffffu;
      NCUPC_PUT_BITS(struct fields, d, p, value & 0x1fffffffffu);
      break;
    case 4:
      my_bits[i].e = (signed char)value;
      NCUPC_PUT(signed char, ncupc_field(p, offsetof(struct fields, e)), (signed char)value);
      break;
    default:
      my_bits[i].f = (unsigned)value;
      NCUPC_PUT_BITS(struct fields, f, p, (unsigned)value);
  }
  CHECK(NCUPC_GET_BITS(struct fields, a, p) == my_bits[i].a &&
            NCUPC_GET_BITS(struct fields, b, p) == my_bits[i].b,
        "bits %zu", i);
  CHECK(NCUPC_GET_BITS(struct fields, c, p) == my_bits[i].c &&
            NCUPC_GET_BITS_STRICT(struct fields, d, p) == my_bits[i].d,
        "bits %zu", i);
  CHECK(NCUPC_GET_BITS(struct fields, f, p) == my_bits[i].f, "bits %zu", i);
}

static void byte_step(uint64_t* random, size_t i) {
  const ncupc_ptr p = byte_at(i);
  const unsigned char value = (unsigned char)next_random(random);
  if (below(random, 2) == 0) {
    NCUPC_PUT(unsigned char, p, value);
    my_bytes[i] = value;
  } else {
    CHECK(NCUPC_GET(unsigned char, p) == my_bytes[i], "byte %zu", i);
  }
}

/* Arguments with side effects, and accesses as arguments of accesses. */
static void check_nesting(void) {
  int calls = 0;
  const ncupc_ptr mine = ncupc_add(pointers, MYTHREAD, sizeof(ncupc_ptr), 1);
  const ncupc_ptr next = ncupc_add(pointers, (MYTHREAD + 1) % THREADS, sizeof(ncupc_ptr), 1);
  NCUPC_PUT(ncupc_ptr, mine, word_at((size_t)MYTHREAD * 5));
  NCUPC_BARRIER();
  const size_t neighbour = (size_t)((MYTHREAD + 1) % THREADS) * 5;
  CHECK(ncupc_equal(NCUPC_GET(ncupc_ptr, next), word_at(neighbour)));
  const uint64_t there = NCUPC_GET(uint64_t, NCUPC_GET(ncupc_ptr, (++calls, next)));
  CHECK(calls == 1 && there == NCUPC_GET(uint64_t, word_at(neighbour)));
  NCUPC_BARRIER();
  NCUPC_PUT(uint64_t, NCUPC_GET(ncupc_ptr, mine),
            NCUPC_GET(uint64_t, NCUPC_GET(ncupc_ptr, mine)) + (uint64_t)++calls);
  my_words[(size_t)MYTHREAD * 5] += 2;
  CHECK(calls == 2);
}

int ncupc_main(int argc, char** argv) {
  const int steps = argc > 1 ? atoi(argv[1]) : 4000;
  uint64_t random = 1000 + (uint64_t)MYTHREAD;
  for (int step = 0; step < steps; ++step) {
    size_t i = below(&random, elements);
    while (writer_of(i) != MYTHREAD) i = below(&random, elements);
    switch (below(&random, 4)) {
      case 0:
        point_step(&random, i);
        break;
      case 1:
        bits_step(&random, i);
        break;
      case 2:
        byte_step(&random, i);
        break;
      default:
        word_step(&random, i);
    }
    if (below(&random, 200) == 0) NCUPC_FENCE();
  }
  check_nesting();
  /* Each writer's expected values go into a second array, which the others compare with the first.
   * */
  const ncupc_ptr believed = upc_all_alloc(elements, sizeof(uint64_t));
  for (size_t i = 0; i < elements; ++i) {
    if (writer_of(i) != MYTHREAD) continue;
    NCUPC_PUT(uint64_t, ncupc_add(believed, (ptrdiff_t)i, sizeof(uint64_t), 1),
              my_words[i] + my_bytes[i] + (uint64_t)my_points[i].tag + my_bits[i].d);
  }
  NCUPC_BARRIER();
  for (size_t k = 0; k < elements / 4; ++k) {
    const size_t i = below(&random, elements);
    const struct point point = NCUPC_GET_RECORD(struct point, point_at(i));
    const uint64_t sum = NCUPC_GET(uint64_t, word_at(i)) + NCUPC_GET(unsigned char, byte_at(i)) +
                         (uint64_t)point.tag + NCUPC_GET_BITS(struct fields, d, bits_at(i));
    CHECK(sum == NCUPC_GET(uint64_t, ncupc_add(believed, (ptrdiff_t)i, sizeof(uint64_t), 1)),
          "element %zu", i);
  }
  NCUPC_BARRIER();
  return verdict();
}
