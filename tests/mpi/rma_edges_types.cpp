// The cases of rma_edges.cpp about datatypes: pairs, gaps, shapes, and all that are predefined.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "rma_words.h"

namespace {

struct ShortInt {
  short value;
  short gap;
  int index;
};

// A pair has a gap, which nobody may write to; several pairs may be adjacent.
void pairs_with_gaps_inside() {
  Words words(4);
  auto* const here = reinterpret_cast<ShortInt*>(words.memory.data());
  for (int i = 0; i < 4; ++i) here[i] = {100, 7, 1};
  MPI_Barrier(check::world);
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_SHORT_INT, &two);
  MPI_Type_commit(&two);
  const ShortInt mine[2] = {{static_cast<short>(rank), 3, 40 + rank}, {200, 3, 0}};
  MPI_Win_fence(0, words.win);
  MPI_Accumulate(mine, 1, two, next_rank(), 0, 1, two, MPI_MINLOC, words.win);
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(here[0].value, rank_before());
  EXPECT_EQ(here[0].index, 40 + rank_before());
  EXPECT_EQ(here[1].value, 100);
  MPI_Win_fence(0, words.win);
  for (int i = 0; i < 3; ++i) {
    ShortInt old{0, 9, 0};
    MPI_Accumulate(&mine[0], 1, MPI_SHORT_INT, next_rank(), 2, 1, MPI_SHORT_INT, MPI_REPLACE,
                   words.win);
    MPI_Get_accumulate(&mine[0], 1, MPI_SHORT_INT, &old, 1, MPI_SHORT_INT, next_rank(), 2, 1,
                       MPI_SHORT_INT, MPI_REPLACE, words.win);
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(old.gap, 9);
    EXPECT_EQ(here[2].gap, 7);
    EXPECT_EQ(here[2].index, 40 + rank_before());
  }
  MPI_Type_free(&two);
}

struct DoubleInt {
  double value;
  int index, own;  // own: must not be touched
};

// The padding behind a pair is neither read nor written at the result; the window ends with the
// last pair's index.
void pairs_with_gaps_behind() {
  constexpr int pairs = 3;
  DoubleInt* memory = nullptr;
  MPI_Alloc_mem(pairs * sizeof(DoubleInt), MPI_INFO_NULL, &memory);
  for (int i = 0; i < pairs; ++i) memory[i] = {100.0 + i, 1, 60 + i};
  MPI_Win win;
  MPI_Win_create(memory, pairs * sizeof(DoubleInt) - sizeof(int), 1, MPI_INFO_NULL, check::world,
                 &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  DoubleInt mine[pairs], found[pairs];
  for (int i = 0; i < pairs; ++i) mine[i] = {1.0 + i, 2, 80 + i}, found[i] = {0, 0, 90 + i};
  DoubleInt old{0, 0, 95};
  MPI_Win_fence(0, win);
  EXPECT_EQ(class_of(MPI_Get_accumulate(mine, pairs, MPI_DOUBLE_INT, found, pairs, MPI_DOUBLE_INT,
                                        next_rank(), 0, pairs, MPI_DOUBLE_INT, MPI_MINLOC, win)),
            MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Win_fence(0, win)), MPI_SUCCESS);
  for (int i = 0; i < pairs; ++i) {
    EXPECT(memory[i].value == 1.0 + i && memory[i].index == 2);
    EXPECT_EQ(memory[i].own, 60 + i);
    EXPECT(found[i].value == 100.0 + i && found[i].index == 1);
    EXPECT_EQ(found[i].own, 90 + i);
  }
  MPI_Win_fence(0, win);
  EXPECT_EQ(class_of(MPI_Fetch_and_op(&mine[0], &old, MPI_DOUBLE_INT, next_rank(),
                                      (pairs - 1) * sizeof(DoubleInt), MPI_MAXLOC, win)),
            MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Win_fence(0, win)), MPI_SUCCESS);
  EXPECT(old.value == pairs && old.index == 2);
  EXPECT_EQ(old.own, 95);
  MPI_Win_free(&win);
  MPI_Free_mem(memory);
}

// These types are predefined, too, though not named.
void types_that_fortran_asks_for_by_their_precision() {
  Words words(8);
  MPI_Datatype real, complex, whole;
  if (MPI_Type_create_f90_real(15, 300, &real) != MPI_SUCCESS) return check::skip("none here");
  MPI_Type_create_f90_complex(15, 300, &complex);
  MPI_Type_create_f90_integer(9, &whole);
  const double value = rank + 0.5, pair[2] = {1, 2};
  const int number = rank + 3;
  for (int round = 1; round <= 3; ++round) {
    MPI_Win_fence(0, words.win);
    const auto add = [&](const void* data, MPI_Datatype type, MPI_Aint at) {
      return class_of(MPI_Accumulate(data, 1, type, next_rank(), at, 1, type, MPI_SUM, words.win));
    };
    EXPECT_EQ(add(&value, real, 0), MPI_SUCCESS);
    EXPECT_EQ(add(pair, complex, 2), MPI_SUCCESS);
    EXPECT_EQ(add(&number, whole, 4), MPI_SUCCESS);
    MPI_Win_fence(0, words.win);
    const auto* here = reinterpret_cast<const double*>(words.memory.data());
    EXPECT(here[0] == round * (rank_before() + 0.5));
    EXPECT(here[2] == round && here[3] == 2 * round);
    EXPECT_EQ(words.memory[4], round * (rank_before() + 3));
  }
}

// The old value may replace the compared one; only the new one must be elsewhere.
void the_compared_value_is_replaced_by_the_old_one() {
  Words words(1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, words.win);
  for (int64_t round = 0; round < 4; ++round) {
    const int64_t wanted = 100 + round;
    int64_t both = 5;
    MPI_Compare_and_swap(&wanted, &both, &both, MPI_INT64_T, next_rank(), 0, words.win);
    MPI_Win_flush(next_rank(), words.win);
    EXPECT_EQ(both, 0);
    int both_of_four = 5;
    const int less = 3;
    MPI_Compare_and_swap(&less, &both_of_four, &both_of_four, MPI_INT, next_rank(), 0, words.win);
    MPI_Win_flush(next_rank(), words.win);
    EXPECT_EQ(both_of_four, 0);
  }
  MPI_Win_unlock(next_rank(), words.win);
  MPI_Barrier(check::world);
  EXPECT_EQ(words.memory[0], 0);
}

// Parts without elements have no say in what an accumulate computes with.
void structs_with_empty_parts() {
  if (!check::cached()) return check::skip("hosts end, or find an error");
  Words words(4);
  const int lengths[] = {1, 0, 2, 1};
  const MPI_Aint places[] = {0, 100, 16, 24};
  MPI_Datatype nothing, type;
  MPI_Type_contiguous(0, MPI_SHORT, &nothing);
  const MPI_Datatype parts[] = {MPI_INT64_T, MPI_DOUBLE, MPI_INT64_T, nothing};
  MPI_Type_create_struct(4, lengths, places, parts, &type);
  MPI_Type_commit(&type);
  const int64_t data[] = {1, 2, 3, 4};
  for (int round = 1; round <= 3; ++round) {
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(MPI_Accumulate(data, 1, type, next_rank(), 0, 1, type, MPI_SUM, words.win),
              MPI_SUCCESS);
    MPI_Win_fence(0, words.win);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(words.memory[i], i == 1 ? 0 : round * data[i]);
  }
  MPI_Type_free(&nothing);
  MPI_Type_free(&type);
}

// Random datatypes of ints: nested, with negative bounds and strides.
class SomeType {
 public:
  explicit SomeType(std::mt19937* random) : random_(*random) {
    do {
      if (type_ != MPI_INT && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
      type_ = make(2);
      MPI_Type_commit(&type_);
    } while (!measure());
  }
  ~SomeType() { free(); }
  SomeType(const SomeType&) = delete;
  SomeType& operator=(const SomeType&) = delete;
  void free() {
    if (type_ != MPI_INT && type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    type_ = MPI_DATATYPE_NULL;
  }

  MPI_Datatype get() const { return type_; }
  int ints() const { return ints_; }
  // For this many elements, in bytes: the lowest position, and the distance to the highest.
  MPI_Aint lowest(int count) const { return lb_ + std::min<MPI_Aint>(0, (count - 1) * extent_); }
  MPI_Aint span(int count) const { return true_extent_ + (count - 1) * std::abs(extent_); }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  MPI_Datatype make(int depth) {
    if (depth == 0 || below(5) == 0) return MPI_INT;
    MPI_Datatype part = make(depth - 1), made = MPI_DATATYPE_NULL;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(part, &lb, &extent);
    const int lengths[] = {1 + below(2), below(2), 1};
    const int places[] = {4 + below(3), -3 - below(4), 12};
    const MPI_Aint bytes[] = {places[1] * extent, places[2] * extent + 4, places[0] * extent};
    const int sizes[] = {3, 4}, subsizes[] = {2, 1 + below(3)}, starts[] = {below(2), below(2)};
    const int whole[] = {4, 5}, processes[] = {2, 2};
    const int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    const int arguments[] = {1 + below(2), MPI_DISTRIBUTE_DFLT_DARG};
    const MPI_Datatype parts[] = {part, part, part};
    switch (below(12)) {
      case 0:
        MPI_Type_contiguous(1 + below(4), part, &made);
        break;
      case 1:
        MPI_Type_vector(1 + below(3), 1 + below(2), below(2) != 0 ? 3 : -3, part, &made);
        break;
      case 2:
        MPI_Type_indexed(3, lengths, places, part, &made);
        break;
      case 3:
        MPI_Type_create_hindexed(3, lengths, bytes, part, &made);
        break;
      case 4:
        MPI_Type_create_struct(3, lengths, bytes, parts, &made);
        break;
      case 5:
        MPI_Type_create_resized(part, -8, (4 + below(3)) * extent + 4, &made);
        break;
      case 6:
        MPI_Type_create_subarray(2, sizes, subsizes, starts,
                                 below(2) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part, &made);
        break;
      case 7:
        MPI_Type_create_indexed_block(3, 2, places, part, &made);
        break;
      case 8:
        MPI_Type_create_hindexed_block(2, 2, bytes, part, &made);
        break;
      case 9:
        MPI_Type_dup(part, &made);
        break;
      case 10:
        MPI_Type_create_darray(4, below(4), 2, whole, distributions, arguments, processes,
                               below(2) != 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, part, &made);
        break;
      default:
        MPI_Type_create_hvector(2, 1, -5 * extent - 8, part, &made);
    }
    if (part != MPI_INT) MPI_Type_free(&part);
    return made;
  }

  // Returns false for unwanted types: empty, too large, or with overlapping ints.
  bool measure() {
    int size;
    MPI_Aint unused;
    MPI_Type_size(type_, &size);
    MPI_Type_get_extent(type_, &unused, &extent_);
    MPI_Type_get_true_extent(type_, &lb_, &true_extent_);
    ints_ = size / 4;
    if (ints_ == 0 || ints_ > 24) return false;
    constexpr int count = 25;
    if (span(count) > 60000) return false;
    std::vector<int> packed(static_cast<size_t>(ints_ * count), 1), there(15001, 0);
    auto* const first = reinterpret_cast<char*>(there.data()) - lowest(count);
    int at = 0;
    MPI_Unpack(packed.data(), ints_ * count * 4, &at, first, count, type_, check::world);
    return std::count(there.begin(), there.end(), 1) == ints_ * count;
  }

  std::mt19937& random_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  int ints_ = 0;
  MPI_Aint extent_ = 0, lb_ = 0, true_extent_ = 0;
};

// Elements of one type in their own memory.
struct Place {
  Place(const SomeType& of, int of_count, int value)
      : type(of.get()), count(of_count), memory(static_cast<size_t>(of.span(count) / 4 + 1), -1) {
    for (int& each : memory) each = value++;
    first = reinterpret_cast<char*>(memory.data()) - of.lowest(count);
  }
  std::vector<int> packed() const {
    int bytes = 0, at = 0;
    MPI_Type_size(type, &bytes);
    std::vector<int> all(static_cast<size_t>(bytes * count / 4));
    MPI_Pack(first, count, type, all.data(), bytes * count, &at, check::world);
    return all;
  }

  MPI_Datatype type;
  int count;
  std::vector<int> memory;
  char* first;
};

void unpack(const std::vector<int>& packed, char* first, int count, MPI_Datatype type) {
  int at = 0;
  MPI_Unpack(packed.data(), static_cast<int>(packed.size() * 4), &at, first, count, type,
             check::world);
}

// What a rank puts, fetches while adding the same, and gets must match MPI_Pack and MPI_Unpack. The
// types are freed before the epoch ends.
void use_types(const Words& words, std::mt19937* random) {
  constexpr int ints = 16000;
  SomeType there(random), origin(random);
  auto* const here = reinterpret_cast<int*>(words.memory.data());
  const int targets = origin.ints(), sources = there.ints(), to = next_rank();
  const MPI_Aint unit = 8, below = std::max<MPI_Aint>(-there.lowest(targets), 0);
  const MPI_Aint at = (below + unit - 1) / unit + 3;
  std::vector<int> expected(ints);
  for (int i = 0; i < ints; ++i) here[i] = expected[static_cast<size_t>(i)] = rank + 7 * i;
  MPI_Barrier(check::world);
  const Place sent(origin, sources, 1000 * rank), theirs(origin, sources, 1000 * rank_before());
  const auto twice = [](std::vector<int> all) {
    for (int& each : all) each *= 2;
    return all;
  };
  unpack(twice(theirs.packed()), reinterpret_cast<char*>(expected.data()) + at * unit, targets,
         there.get());
  const std::vector<int> added = twice(sent.packed());
  Place old(origin, sources, -7), old_expected(origin, sources, -7);
  unpack(sent.packed(), old_expected.first, sources, origin.get());
  std::vector<int> now(added.size(), -1);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, words.win);
  MPI_Put(sent.first, sources, origin.get(), to, at, targets, there.get(), words.win);
  MPI_Win_flush(to, words.win);
  MPI_Get_accumulate(sent.first, sources, origin.get(), old.first, sources, origin.get(), to, at,
                     targets, there.get(), MPI_SUM, words.win);
  MPI_Win_flush(to, words.win);
  MPI_Get(now.data(), static_cast<int>(now.size()), MPI_INT, to, at, targets, there.get(),
          words.win);
  there.free();
  origin.free();
  MPI_Win_unlock(to, words.win);
  EXPECT(old.memory == old_expected.memory);
  EXPECT(now == added);
  MPI_Barrier(check::world);
  EXPECT(std::equal(expected.begin(), expected.end(), here));
  MPI_Barrier(check::world);
}

void datatypes_of_all_shapes() {
  Words words(8000);
  std::mt19937 random(20261125);
  for (int round = 0; round < 100; ++round) use_types(words, &random);
}

struct Named {
  const char* name;
  MPI_Datatype type;
};

bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool has_long_doubles(MPI_Datatype type) {
  return is_one_of(type, {MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX,
                          MPI_LONG_DOUBLE_INT});
}

bool has_halves([[maybe_unused]] MPI_Datatype type) {
#ifdef MPI_REAL2
  if (type == MPI_REAL2) return true;
#endif
#ifdef MPI_COMPLEX4
  if (type == MPI_COMPLEX4) return true;
#endif
  return false;
}

template <class T>
void write_as(int64_t number, char* to) {
  const T value = static_cast<T>(number);
  std::memcpy(to, &value, sizeof value);
}

// Writes a number as a value of the type: a pair gets the index 5, a complex number no imaginary
// part.
void write_number(const Named& what, int64_t number, char* to) {
  MPI_Aint lb, extent;
  int size = 0;
  MPI_Type_get_extent(what.type, &lb, &extent);
  MPI_Type_size(what.type, &size);
  std::memset(to, 0, static_cast<size_t>(extent));
  const MPI_Datatype type = what.type;
  const int five = 5;
  if (has_halves(type)) {
    const uint16_t halves[] = {0, 0x3c00, 0x4000, 0x4200};  // 0 to 3 in half precision
    std::memcpy(to, &halves[number], sizeof halves[number]);
    return;
  }
#ifdef MPI_REAL4
  if (is_one_of(type, {MPI_REAL4, MPI_COMPLEX8})) return write_as<float>(number, to);
  if (is_one_of(type, {MPI_REAL8, MPI_COMPLEX16})) return write_as<double>(number, to);
#endif
#ifdef MPI_DOUBLE_COMPLEX
  if (type == MPI_DOUBLE_COMPLEX) return write_as<double>(number, to);
#endif
  if (is_one_of(type, {MPI_FLOAT, MPI_REAL, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX,
                       MPI_FLOAT_INT})) {
    write_as<float>(number, to);
    if (type == MPI_FLOAT_INT) std::memcpy(to + 4, &five, 4);
  } else if (is_one_of(type, {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_C_DOUBLE_COMPLEX,
                              MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_INT})) {
    write_as<double>(number, to);
    if (type == MPI_DOUBLE_INT) std::memcpy(to + 8, &five, 4);
  } else if (has_long_doubles(type)) {
    write_as<long double>(number, to);
    std::memset(to + 10, 0, 6);
    if (type == MPI_LONG_DOUBLE_INT) std::memcpy(to + 16, &five, 4);
  } else if (is_one_of(type, {MPI_2REAL})) {
    write_as<float>(number, to), write_as<float>(5, to + 4);
  } else if (is_one_of(type, {MPI_2DOUBLE_PRECISION})) {
    write_as<double>(number, to), write_as<double>(5, to + 8);
  } else if (is_one_of(type, {MPI_LONG_INT})) {
    write_as<long>(number, to), write_as<int>(5, to + 8);
  } else if (is_one_of(type, {MPI_SHORT_INT, MPI_2INT, MPI_2INTEGER})) {
    type == MPI_SHORT_INT ? write_as<short>(number, to) : write_as<int>(number, to);
    write_as<int>(5, to + 4);
  } else {
    if (is_one_of(type, {MPI_C_BOOL, MPI_CXX_BOOL})) number %= 2;
    std::memcpy(to, &number, std::min<size_t>(static_cast<size_t>(size), 8));
  }
}

// A long double has 10 significant bytes.
void clear_gaps(MPI_Datatype type, char* values, size_t bytes) {
  if (!has_long_doubles(type)) return;
  const size_t step = type == MPI_LONG_DOUBLE_INT ? 32 : 16;
  for (size_t at = 0; at < bytes; at += step) std::memset(values + at + 10, 0, 6);
}

// As far as the host has them.
std::vector<Named> predefined_types() {
  return {{"char", MPI_CHAR},
          {"signed char", MPI_SIGNED_CHAR},
          {"unsigned char", MPI_UNSIGNED_CHAR},
          {"short", MPI_SHORT},
          {"unsigned short", MPI_UNSIGNED_SHORT},
          {"int", MPI_INT},
          {"unsigned", MPI_UNSIGNED},
          {"long", MPI_LONG},
          {"unsigned long", MPI_UNSIGNED_LONG},
          {"long long", MPI_LONG_LONG},
          {"unsigned long long", MPI_UNSIGNED_LONG_LONG},
          {"int8_t", MPI_INT8_T},
          {"int16_t", MPI_INT16_T},
          {"int32_t", MPI_INT32_T},
          {"int64_t", MPI_INT64_T},
          {"uint8_t", MPI_UINT8_T},
          {"uint16_t", MPI_UINT16_T},
          {"uint32_t", MPI_UINT32_T},
          {"uint64_t", MPI_UINT64_T},
          {"MPI_Aint", MPI_AINT},
          {"MPI_Offset", MPI_OFFSET},
          {"MPI_Count", MPI_COUNT},
          {"float", MPI_FLOAT},
          {"double", MPI_DOUBLE},
          {"long double", MPI_LONG_DOUBLE},
          {"bool", MPI_C_BOOL},
          {"float complex", MPI_C_FLOAT_COMPLEX},
          {"double complex", MPI_C_DOUBLE_COMPLEX},
          {"long double complex", MPI_C_LONG_DOUBLE_COMPLEX},
          {"bool of C++", MPI_CXX_BOOL},
          {"float complex of C++", MPI_CXX_FLOAT_COMPLEX},
          {"double complex of C++", MPI_CXX_DOUBLE_COMPLEX},
          {"long double complex of C++", MPI_CXX_LONG_DOUBLE_COMPLEX},
          {"byte", MPI_BYTE},
          {"INTEGER", MPI_INTEGER},
          {"REAL", MPI_REAL},
          {"DOUBLE PRECISION", MPI_DOUBLE_PRECISION},
          {"COMPLEX", MPI_COMPLEX},
          {"LOGICAL", MPI_LOGICAL},
#ifdef MPI_LOGICAL1
          {"LOGICAL*1", MPI_LOGICAL1},
#endif
#ifdef MPI_LOGICAL2
          {"LOGICAL*2", MPI_LOGICAL2},
#endif
#ifdef MPI_LOGICAL4
          {"LOGICAL*4", MPI_LOGICAL4},
#endif
#ifdef MPI_LOGICAL8
          {"LOGICAL*8", MPI_LOGICAL8},
#endif
#ifdef MPI_LOGICAL16
          {"LOGICAL*16", MPI_LOGICAL16},
#endif
#ifdef MPI_INTEGER1
          {"INTEGER*1", MPI_INTEGER1},
          {"INTEGER*2", MPI_INTEGER2},
          {"INTEGER*4", MPI_INTEGER4},
          {"INTEGER*8", MPI_INTEGER8},
          {"REAL*4", MPI_REAL4},
          {"REAL*8", MPI_REAL8},
          {"COMPLEX*8", MPI_COMPLEX8},
          {"COMPLEX*16", MPI_COMPLEX16},
#endif
#ifdef MPI_DOUBLE_COMPLEX
          {"DOUBLE COMPLEX", MPI_DOUBLE_COMPLEX},
#endif
#ifdef MPI_REAL2
          {"REAL*2", MPI_REAL2},
#endif
#ifdef MPI_COMPLEX4
          {"COMPLEX*4", MPI_COMPLEX4},
#endif
          {"float, int", MPI_FLOAT_INT},
          {"double, int", MPI_DOUBLE_INT},
          {"long, int", MPI_LONG_INT},
          {"int, int", MPI_2INT},
          {"short, int", MPI_SHORT_INT},
          {"long double, int", MPI_LONG_DOUBLE_INT},
          {"2 INTEGER", MPI_2INTEGER},
          {"2 REAL", MPI_2REAL},
          {"2 DOUBLE PRECISION", MPI_2DOUBLE_PRECISION}};
}

// Of predefined types and operations, as far as the host has them: what an accumulate makes of
// memory is what a reduction makes of it.
void accumulates_are_as_reductions() {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  const char* const names[] = {"sum",  "prod", "min", "max",  "land",   "lor",
                               "lxor", "band", "bor", "bxor", "minloc", "maxloc"};
  Words words(64);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constexpr int count = 3;
  for (const Named& each : predefined_types()) {
    int size = 0;
    MPI_Aint lb, extent;
    if (each.type == MPI_DATATYPE_NULL) continue;
    MPI_Type_size(each.type, &size);
    MPI_Type_get_extent(each.type, &lb, &extent);
    if (size == 0) continue;
    // Values that are whole numbers in any type: 1, 2, 3 and 3, 1, 1.
    std::vector<char> first(static_cast<size_t>(extent) * count), second(first.size()), reduced;
    const auto fill = [&](std::vector<char>* to, const int64_t* from) {
      for (int i = 0; i < count; ++i) write_number(each, from[i], to->data() + i * extent);
    };
    const int64_t a[] = {1, 2, 3}, b[] = {3, 1, 3};
    fill(&first, a);
    fill(&second, b);
    for (size_t op = 0; op < std::size(ops); ++op) {
      reduced = second;
      const bool known =
          MPI_Reduce_local(first.data(), reduced.data(), count, each.type, ops[op]) == MPI_SUCCESS;
      std::memcpy(words.memory.data(), second.data(), second.size());
      MPI_Win_fence(0, words.win);
      const int code = MPI_Accumulate(first.data(), count, each.type, next_rank(), 0, count,
                                      each.type, ops[op], words.win);
      MPI_Win_fence(0, words.win);
      if (known) check::expect(code == MPI_SUCCESS, "%s of %s", names[op], each.name);
      auto* const got = reinterpret_cast<char*>(words.memory.data());
      clear_gaps(each.type, got, reduced.size());
      clear_gaps(each.type, reduced.data(), reduced.size());
      if (known && code == MPI_SUCCESS)
        check::expect(std::memcmp(got, reduced.data(), reduced.size()) == 0, "%s of %s differs",
                      names[op], each.name);
      MPI_Win_fence(0, words.win);
    }
  }
}

}  // namespace

void add_type_cases(std::vector<check::Case>& cases) {
  cases.insert(cases.end(), {{"pairs_with_gaps_inside", pairs_with_gaps_inside},
                             {"pairs_with_gaps_behind", pairs_with_gaps_behind},
                             {"types_that_fortran_asks_for_by_their_precision",
                              types_that_fortran_asks_for_by_their_precision},
                             {"the_compared_value_is_replaced_by_the_old_one",
                              the_compared_value_is_replaced_by_the_old_one},
                             {"structs_with_empty_parts", structs_with_empty_parts},
                             {"datatypes_of_all_shapes", datatypes_of_all_shapes},
                             {"accumulates_are_as_reductions", accumulates_are_as_reductions}});
}
