// The cases of rma.cpp about what is transferred: sizes, datatypes, and what accumulates compute.
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <vector>

#include "rma_words.h"

namespace {

void transfers_of_every_size() {
  Words words(50000);
  std::vector<int64_t> data(50000), back(50000);
  for (const int count : {1, 100, 9000, 50000}) {
    std::iota(data.begin(), data.end(), rank * 1000000 + count);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, words.win);
    MPI_Put(data.data(), count, MPI_INT64_T, next_rank(), 0, count, MPI_INT64_T, words.win);
    MPI_Win_flush(next_rank(), words.win);
    MPI_Get(back.data(), count, MPI_INT64_T, next_rank(), 0, count, MPI_INT64_T, words.win);
    MPI_Win_unlock(next_rank(), words.win);
    EXPECT(std::equal(data.begin(), data.begin() + count, back.begin()));
    MPI_Barrier(check::world);
  }
}

void fence_and_derived_types() {
  constexpr int n = 40;
  Words words(n * n);
  for (int i = 0; i < n * n; ++i) words.memory[static_cast<size_t>(i)] = -1;
  MPI_Datatype column, back;
  MPI_Type_vector(n, 1, n, MPI_INT64_T, &column);
  MPI_Type_commit(&column);
  const int lengths[] = {1, 2}, places[] = {3, 0};
  MPI_Type_indexed(2, lengths, places, MPI_INT64_T, &back);
  MPI_Type_commit(&back);
  std::vector<int64_t> data(n), got(4, -5);
  std::iota(data.begin(), data.end(), rank * 100);
  MPI_Win_fence(0, words.win);
  MPI_Put(data.data(), n, MPI_INT64_T, next_rank(), 2, 1, column, words.win);
  MPI_Win_fence(0, words.win);
  const int before = (rank + ranks - 1) % ranks;
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(words.memory[static_cast<size_t>(i * n + 2)], before * 100 + i);
    EXPECT_EQ(words.memory[static_cast<size_t>(i * n + 1)], -1);
  }
  MPI_Get(got.data(), 1, back, next_rank(), 2, 1, back, words.win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
  // From words 2 + {3, 0, 1} of the target, each to the same position here.
  EXPECT_EQ(got[3], -1);
  EXPECT_EQ(got[0], rank * 100);
  EXPECT_EQ(got[2], -5);
  MPI_Type_free(&column);
  MPI_Type_free(&back);
}

// From the second use on, the engine knows the type.
void elements_without_arithmetic_are_replaced_whole() {
  Words words(8);
  for (int turn = 1; turn <= 3; ++turn) {
    const std::vector<wchar_t> data(3, static_cast<wchar_t>(0x01010101 * (turn + rank)));
    MPI_Win_fence(0, words.win);
    MPI_Accumulate(data.data(), 3, MPI_WCHAR, next_rank(), 0, 3, MPI_WCHAR, MPI_REPLACE, words.win);
    MPI_Win_fence(0, words.win);
    std::vector<wchar_t> here(3);
    std::memcpy(here.data(), words.memory.data(), 3 * sizeof(wchar_t));
    const int before = (rank + ranks - 1) % ranks;
    EXPECT(here == std::vector<wchar_t>(3, static_cast<wchar_t>(0x01010101 * (turn + before))));
  }
}

// As in a receive, what is not filled stays unchanged. Large ones take several messages.
void room_for_more_than_comes() {
  if (!check::cached()) return check::skip("hosts take what is not there");
  constexpr int few = 5, many = 30000;
  Words words(2 * many);
  MPI_Datatype every_other;
  MPI_Type_vector(4, 1, 2, MPI_INT64_T, &every_other);
  MPI_Type_commit(&every_other);
  for (const int count : {few, many - 3}) {
    const auto sent = static_cast<size_t>(count);
    std::vector<int64_t> data(2 * many), back(2 * many, -1), spread(2 * many, -1);
    std::iota(data.begin(), data.end(), rank * 1000000 + 1);
    MPI_Request request;
    MPI_Win_fence(0, words.win);
    std::ranges::fill(words.memory, -1);
    MPI_Win_fence(0, words.win);
    MPI_Put(data.data(), count, MPI_INT64_T, next_rank(), 0, many / 4, every_other, words.win);
    MPI_Put(data.data(), 1, MPI_INT64_T, next_rank(), 2 * many - 2, 2, MPI_INT64_T, words.win);
    MPI_Win_fence(0, words.win);
    const int64_t before = (rank + ranks - 1) % ranks * 1000000 + 1;
    int wrong = 0;
    const auto in_vectors = [](size_t i) { return i / 4 * 7 + i % 4 * 2; };  // its extent is 7
    for (size_t i = 0; i < sent; ++i)
      wrong += words.memory[in_vectors(i)] != before + static_cast<int64_t>(i);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(words.memory[in_vectors(sent)], -1);
    EXPECT_EQ(words.memory[2 * many - 2], before);
    EXPECT_EQ(words.memory[2 * many - 1], -1);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
    MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
    MPI_Get(back.data(), many, MPI_INT64_T, next_rank(), 0, count, MPI_INT64_T, words.win);
    MPI_Rget(spread.data(), many / 4, every_other, next_rank(), 0, count, MPI_INT64_T, words.win,
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(next_rank(), words.win);
    const auto there = [&](size_t at) {
      const size_t i = at / 7 * 4 + at % 7 / 2;
      return at % 7 % 2 == 0 && i < sent ? rank * 1000000 + 1 + static_cast<int64_t>(i) : -1;
    };
    for (size_t i = 0; i < sent; ++i)
      wrong += back[i] != there(i) || spread[in_vectors(i)] != there(i);
    EXPECT_EQ(wrong, 0);
    EXPECT(back[sent] == -1 && spread[in_vectors(sent)] == -1 && spread[1] == -1);
    MPI_Win_fence(0, words.win);
    MPI_Accumulate(data.data(), 1, MPI_INT64_T, next_rank(), 0, 4, MPI_INT64_T, MPI_SUM, words.win);
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(words.memory[0], 2 * before);
    EXPECT_EQ(words.memory[2], before + 1);
    EXPECT_EQ(
        class_of(MPI_Put(data.data(), 2, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words.win)),
        MPI_ERR_TYPE);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
  }
  MPI_Type_free(&every_other);
}

// More blocks than a cache accepts, at both ends, and the datatype freed before its data have
// arrived.
void a_datatype_of_many_blocks() {
  constexpr int rows = 400, columns = 250;
  Words words(rows * columns);
  std::vector<int64_t> data(rows * columns), back(rows * columns);
  std::iota(data.begin(), data.end(), rank * 1000000);
  for (int round = 0; round < 2; ++round) {
    MPI_Datatype column, transposed;
    MPI_Type_vector(rows, 1, columns, MPI_INT64_T, &column);
    MPI_Type_create_hvector(columns, 1, 8, column, &transposed);
    MPI_Type_commit(&transposed);
    MPI_Win_fence(0, words.win);
    MPI_Put(data.data(), rows * columns, MPI_INT64_T, next_rank(), 0, 1, transposed, words.win);
    MPI_Win_fence(0, words.win);
    MPI_Get(back.data(), 1, transposed, next_rank(), 0, 1, transposed, words.win);
    MPI_Type_free(&column);
    MPI_Type_free(&transposed);
    MPI_Win_fence(0, words.win);
    const int64_t before = (rank + ranks - 1) % ranks * 1000000;
    int wrong = 0;
    for (int i = 0; i < rows * columns; ++i) {
      const int64_t at = i % columns * rows + i / columns;
      const auto here = static_cast<size_t>(i);
      wrong += words.memory[here] != before + at || back[here] != rank * 1000000 + at;
    }
    EXPECT_EQ(wrong, 0);
    MPI_Win_fence(0, words.win);
  }
}

struct DoubleInt {
  double value;
  int index;
};

void accumulates_of_many_types() {
  std::vector<char> memory(1024);
  MPI_Win win;
  MPI_Win_create(memory.data(), 1024, 1, MPI_INFO_NULL, check::world, &win);
  auto* pairs = reinterpret_cast<DoubleInt*>(&memory[512]);
  for (int i = 0; i < 4; ++i) pairs[i] = {1e9, 1000};
  auto* products = reinterpret_cast<std::complex<double>*>(&memory[256]);
  products[0] = {1, 0};
  MPI_Win_fence(0, win);
  const double one[2] = {1.5, 2.5};
  const int flags = 1 << (rank % 30);
  const DoubleInt mine[4] = {
      {double(ranks - rank), rank}, {7, rank}, {double(rank), rank}, {-1, rank}};
  const std::complex<double> i(0, 1);
  const unsigned char least = static_cast<unsigned char>(200 - rank);
  memory[192] = static_cast<char>(255);
  MPI_Win_fence(0, win);
  MPI_Accumulate(one, 2, MPI_DOUBLE, 0, 0, 2, MPI_DOUBLE, MPI_SUM, win);
  MPI_Accumulate(&flags, 1, MPI_INT, 0, 128, 1, MPI_INT, MPI_BOR, win);
  MPI_Accumulate(&least, 1, MPI_UNSIGNED_CHAR, 0, 192, 1, MPI_UNSIGNED_CHAR, MPI_MIN, win);
  MPI_Accumulate(&i, 1, MPI_C_DOUBLE_COMPLEX, 0, 256, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, win);
  MPI_Accumulate(mine, 4, MPI_DOUBLE_INT, 0, 512, 4, MPI_DOUBLE_INT, MPI_MINLOC, win);
  MPI_Win_fence(0, win);
  if (rank == 0) {
    const auto* sums = reinterpret_cast<double*>(memory.data());
    EXPECT(sums[0] == 1.5 * ranks && sums[1] == 2.5 * ranks);
    EXPECT_EQ(*reinterpret_cast<int*>(&memory[128]), (1 << ranks) - 1);
    EXPECT_EQ(static_cast<unsigned char>(memory[192]), 201 - ranks);
    std::complex<double> expected(1, 0);
    for (int k = 0; k < ranks; ++k) expected *= i;
    EXPECT(products[0] == expected);
    EXPECT(pairs[0].value == 1 && pairs[0].index == ranks - 1);
    EXPECT(pairs[1].value == 7 && pairs[1].index == 0);
    EXPECT(pairs[2].value == 0 && pairs[2].index == 0);
    EXPECT(pairs[3].value == -1 && pairs[3].index == 0);
  }
  MPI_Win_free(&win);
}

void accumulate_of_a_derived_type() {
  Words words(64);
  MPI_Datatype every_third;
  MPI_Type_vector(5, 2, 3, MPI_INT64_T, &every_third);
  MPI_Type_commit(&every_third);
  std::vector<int64_t> data(10, 1), result(15, -1);
  MPI_Win_fence(0, words.win);
  MPI_Accumulate(data.data(), 10, MPI_INT64_T, 0, 3, 1, every_third, MPI_SUM, words.win);
  MPI_Win_fence(0, words.win);
  for (int i = 0; rank == 0 && i < 15; ++i)
    EXPECT_EQ(words.memory[static_cast<size_t>(3 + i)], i % 3 < 2 ? (i < 14 ? ranks : 0) : 0);
  if (rank == 1)
    MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, result.data(), 1, every_third, 0, 3, 10,
                       MPI_INT64_T, MPI_NO_OP, words.win);
  MPI_Win_fence(0, words.win);
  if (rank == 1) {
    EXPECT_EQ(result[0], ranks);
    EXPECT_EQ(result[2], -1);
    EXPECT_EQ(result[3], 0);
    EXPECT_EQ(result[4], ranks);
  }
  MPI_Type_free(&every_third);
}

// The standard defines no arithmetic on bytes. Hosts do, and programs use it, if only on zero
// bytes.
void bytes_have_arithmetic() {
  Words words(1);
  words.memory[0] = 3;
  const unsigned char large = 0x81;
  unsigned char seen = 0;
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(MPI_Accumulate(&large, 1, MPI_BYTE, next_rank(), 0, 1, MPI_BYTE, MPI_MAX, words.win),
            MPI_SUCCESS);
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(words.memory[0], 0x81);
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(MPI_Get_accumulate(&large, 1, MPI_BYTE, &seen, 1, MPI_BYTE, next_rank(), 0, 1, MPI_BYTE,
                               MPI_SUM, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Get_accumulate(&large, 0, MPI_BYTE, &seen, 0, MPI_BYTE, next_rank(), 0, 0, MPI_BYTE,
                               MPI_SUM, words.win),
            MPI_SUCCESS);
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(seen, 0x81);
  EXPECT_EQ(words.memory[0], 2);
  if (!check::cached()) return check::skip("hosts end, or find nothing wrong");
  const auto sum_of_pairs = [&](int count) {
    return class_of(MPI_Accumulate(&words.memory[0], count, MPI_2INT, next_rank(), 0, count,
                                   MPI_2INT, MPI_SUM, words.win));
  };
  EXPECT_EQ(sum_of_pairs(1), MPI_ERR_OP);
  EXPECT_EQ(sum_of_pairs(0), MPI_SUCCESS);
  MPI_Win_fence(0, words.win);
  EXPECT_EQ(words.memory[0], 2);
}

}  // namespace

void add_data_cases(std::vector<check::Case>& cases) {
  cases.insert(cases.end(), {{"transfers_of_every_size", transfers_of_every_size},
                             {"fence_and_derived_types", fence_and_derived_types},
                             {"elements_without_arithmetic_are_replaced_whole",
                              elements_without_arithmetic_are_replaced_whole},
                             {"room_for_more_than_comes", room_for_more_than_comes},
                             {"a_datatype_of_many_blocks", a_datatype_of_many_blocks},
                             {"accumulates_of_many_types", accumulates_of_many_types},
                             {"accumulate_of_a_derived_type", accumulate_of_a_derived_type},
                             {"bytes_have_arithmetic", bytes_have_arithmetic}});
}
