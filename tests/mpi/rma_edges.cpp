// The RMA engine where calls are unusual but valid or wrong: null handles, counts that overflow,
// types with gaps, callbacks, and the end of MPI with windows left.
#include <linux/tcp.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

namespace {

using check::rank;
using check::ranks;

int next_rank() { return (rank + 1) % ranks; }
int rank_before() { return (rank + ranks - 1) % ranks; }

int class_of(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

// A window of this many words, allocated by MPI or the program's own.
struct Words {
  std::vector<int64_t> own;
  int64_t* memory = nullptr;
  MPI_Win win;
  explicit Words(size_t count, MPI_Comm comm = check::world) {
    const auto bytes = static_cast<MPI_Aint>(count * 8);
    if (check::listed(check::rest, "--allocated")) {
      MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, comm, &memory, &win);
    } else {
      own.resize(count);
      memory = own.data();
      MPI_Win_create(memory, bytes, 8, MPI_INFO_NULL, comm, &win);
    }
    std::fill(memory, memory + count, 0);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
  }
  ~Words() { MPI_Win_free(&win); }
};

// The error handler of communicators ends the program; the window's handler is called.
void null_handles_are_errors_of_the_window() {
  if (!check::cached()) return check::skip("hosts end, or find nothing wrong");
  Words words(4);
  const int to = next_rank();
  int64_t one = 1, got = 0;
  MPI_Request request;
  EXPECT_EQ(class_of(MPI_Win_start(MPI_GROUP_NULL, 0, words.win)), MPI_ERR_GROUP);
  EXPECT_EQ(class_of(MPI_Win_post(MPI_GROUP_NULL, 0, words.win)), MPI_ERR_GROUP);
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, words.win);
  const MPI_Datatype null = MPI_DATATYPE_NULL, word = MPI_INT64_T;
  EXPECT_EQ(class_of(MPI_Put(&one, 1, null, to, 0, 1, word, words.win)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Put(&one, 1, word, to, 0, 1, null, words.win)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Get(&one, 1, null, to, 0, 1, word, words.win)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Rput(&one, 1, null, to, 0, 1, word, words.win, &request)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Rget(&one, 1, null, to, 0, 1, word, words.win, &request)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Accumulate(&one, 1, null, to, 0, 1, word, MPI_SUM, words.win)),
            MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Accumulate(&one, 1, word, to, 0, 1, word, MPI_OP_NULL, words.win)),
            MPI_ERR_OP);
  EXPECT_EQ(class_of(MPI_Fetch_and_op(&one, &got, null, to, 0, MPI_SUM, words.win)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Compare_and_swap(&one, &one, &got, null, to, 0, words.win)), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Get_accumulate(&one, 1, word, &got, 1, null, to, 0, 1, word, MPI_SUM,
                                        words.win)),
            MPI_ERR_TYPE);
  EXPECT_EQ(class_of(MPI_Get_accumulate(nullptr, 0, null, &got, 1, null, to, 0, 1, word, MPI_NO_OP,
                                        words.win)),
            MPI_ERR_TYPE);
  EXPECT_EQ(
      MPI_Get_accumulate(nullptr, 0, null, &got, 1, word, to, 0, 1, word, MPI_NO_OP, words.win),
      MPI_SUCCESS);
  MPI_Win_unlock(to, words.win);
  EXPECT_EQ(got, 0);
  EXPECT_EQ(words.memory[0], 0);
}

#if MPI_VERSION >= 4
// So many bytes that their number wraps to 0.
void counts_whose_bytes_overflow_are_errors() {
  if (!check::cached()) return check::skip("hosts end, or find nothing wrong");
  Words words(4);
  const int to = next_rank();
  constexpr MPI_Count many = MPI_Count{1} << 61;
  int64_t one = 1;
  const auto wrong = [](int code) { return code != MPI_SUCCESS; };
  MPI_Win_lock(MPI_LOCK_SHARED, to, 0, words.win);
  EXPECT(wrong(MPI_Put_c(&one, many, MPI_INT64_T, to, 0, many, MPI_INT64_T, words.win)));
  EXPECT(wrong(MPI_Get_c(&one, many, MPI_INT64_T, to, 0, many, MPI_INT64_T, words.win)));
  EXPECT(wrong(
      MPI_Accumulate_c(&one, many, MPI_INT64_T, to, 0, many, MPI_INT64_T, MPI_SUM, words.win)));
  EXPECT(!wrong(MPI_Put_c(&one, 1, MPI_INT64_T, to, 0, many, MPI_INT64_T, words.win)));
  MPI_Win_unlock(to, words.win);
}
#endif

#if MPI_VERSION >= 4
void large_counts_of_every_call() {
  constexpr MPI_Count many = 6;
  const int to = next_rank();
  for (const bool allocated : {false, true}) {
    std::vector<int64_t> own(16);
    int64_t* memory = own.data();
    MPI_Win win;
    if (allocated) {
      MPI_Win_allocate_c(128, 8, MPI_INFO_NULL, check::world, &memory, &win);
      std::fill(memory, memory + 16, 0);
    } else {
      MPI_Win_create_c(memory, 128, 8, MPI_INFO_NULL, check::world, &win);
    }
    if (check::cached()) {
      MPI_Aint size = 0, unit = 0;
      void* base = nullptr;
      MPI_Win_shared_query_c(win, rank, &size, &unit, &base);
      EXPECT(size == 128 && unit == 8 && base == memory);
    }
    MPI_Barrier(check::world);
    // Words 5, 0 and 1, 8 and 9, and 12 of a window.
    MPI_Count lengths[] = {1, 2, 2, 1}, places[] = {40, 0, 64, 96};
    MPI_Datatype whole, words, type;
    MPI_Type_contiguous_c(1, MPI_INT64_T, &whole);
    MPI_Type_create_hindexed_c(4, lengths, places, whole, &words);
    MPI_Type_create_resized_c(words, 0, 128, &type);
    MPI_Type_commit(&type);
    const int64_t data[] = {1, 2, 3, 4, 5, 6};
    int64_t got[many] = {}, old[many] = {}, older[many] = {}, last[many] = {};
    MPI_Request requests[4];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
    MPI_Put_c(data, many, MPI_INT64_T, to, 0, 1, type, win);
    MPI_Win_flush(to, win);
    MPI_Accumulate_c(data, many, MPI_INT64_T, to, 0, 1, type, MPI_SUM, win);
    MPI_Get_accumulate_c(data, many, MPI_INT64_T, old, many, MPI_INT64_T, to, 0, 1, type, MPI_SUM,
                         win);
    MPI_Win_flush(to, win);
    MPI_Get_c(got, many, MPI_INT64_T, to, 0, 1, type, win);
    MPI_Win_flush(to, win);
    MPI_Raccumulate_c(data, many, MPI_INT64_T, to, 0, 1, type, MPI_SUM, win, &requests[0]);
    MPI_Rget_accumulate_c(data, many, MPI_INT64_T, older, many, MPI_INT64_T, to, 0, 1, type,
                          MPI_REPLACE, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Rput_c(data, 1, MPI_INT64_T, to, 15, 1, MPI_INT64_T, win, &requests[0]);
    MPI_Rget_c(last, many, MPI_INT64_T, to, 0, 1, type, win, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(to, win);
    for (size_t i = 0; i < many; ++i) {
      EXPECT_EQ(old[i], 2 * data[i]);
      EXPECT_EQ(got[i], 3 * data[i]);
      EXPECT_EQ(older[i], 4 * data[i]);
      EXPECT_EQ(last[i], data[i]);
    }
    MPI_Barrier(check::world);
    const int64_t expected[] = {2, 3, 0, 0, 0, 1, 0, 0, 4, 5, 0, 0, 6, 0, 0, 1};
    EXPECT(std::equal(memory, memory + 16, expected));
    MPI_Type_free(&whole);
    MPI_Type_free(&words);
    MPI_Type_free(&type);
    MPI_Win_free(&win);
  }
}
#endif

// Datatypes of addresses, from MPI_BOTTOM on, at both ends.
void absolute_addresses_in_dynamic_windows() {
  if (!check::cached()) return check::skip("hosts end, or find an error");
  std::vector<double> reals(8, rank + 0.5), from(4, 1);
  std::vector<int64_t> wholes(4, 10 * rank), with(4, 2);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, reals.data(), 64);
  MPI_Win_attach(win, wholes.data(), 32);
  MPI_Aint mine[2], theirs[2], origins[2];
  MPI_Get_address(reals.data() + 2, &mine[0]);
  MPI_Get_address(wholes.data(), &mine[1]);
  MPI_Get_address(from.data(), &origins[0]);
  MPI_Get_address(with.data(), &origins[1]);
  MPI_Sendrecv(mine, 2, MPI_AINT, rank_before(), 0, theirs, 2, MPI_AINT, next_rank(), 0,
               check::world, MPI_STATUS_IGNORE);
  const int lengths[] = {4, 4};
  const MPI_Datatype parts[] = {MPI_DOUBLE, MPI_INT64_T};
  MPI_Datatype here, there, here_reals, there_reals;
  MPI_Type_create_struct(2, lengths, origins, parts, &here);
  MPI_Type_create_struct(2, lengths, theirs, parts, &there);
  MPI_Type_create_hindexed(1, lengths, origins, MPI_DOUBLE, &here_reals);
  MPI_Type_create_hindexed(1, lengths, theirs, MPI_DOUBLE, &there_reals);
  for (MPI_Datatype* each : {&here, &there, &here_reals, &there_reals}) MPI_Type_commit(each);
  const MPI_Aint bottom = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, win);
  MPI_Accumulate(MPI_BOTTOM, 1, here_reals, next_rank(), bottom, 1, there_reals, MPI_SUM, win);
  MPI_Get_accumulate(MPI_BOTTOM, 0, here, MPI_BOTTOM, 1, here, next_rank(), bottom, 1, there,
                     MPI_NO_OP, win);
  EXPECT_EQ(MPI_Win_flush(next_rank(), win), MPI_SUCCESS);
  EXPECT(from[0] == next_rank() + 1.5 && from[3] == next_rank() + 1.5);
  EXPECT(with[0] == 10 * next_rank() && with[3] == 10 * next_rank());
  from.assign(4, 100 + rank);
  with.assign(4, 200 + rank);
  MPI_Put(MPI_BOTTOM, 1, here, next_rank(), bottom, 1, there, win);
  EXPECT_EQ(MPI_Win_unlock(next_rank(), win), MPI_SUCCESS);
  MPI_Barrier(check::world);
  EXPECT(reals[1] == rank + 0.5 && reals[6] == rank + 0.5);
  EXPECT(reals[2] == 100 + rank_before() && reals[5] == 100 + rank_before());
  EXPECT(wholes[0] == 200 + rank_before() && wholes[3] == 200 + rank_before());
  for (MPI_Datatype* each : {&here, &there, &here_reals, &there_reals}) MPI_Type_free(each);
  MPI_Win_detach(win, reals.data());
  MPI_Win_detach(win, wholes.data());
  MPI_Win_free(&win);
}

void memory_that_cannot_be_attached() {
  if (!check::cached()) return check::skip("hosts find nothing wrong");
  std::vector<char> memory(4096, static_cast<char>(rank));
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  EXPECT_EQ(MPI_Win_attach(win, memory.data(), 1000), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_attach(win, memory.data() + 500, 0), MPI_SUCCESS);
  const auto attach = [&](int at, MPI_Aint size) {
    return class_of(MPI_Win_attach(win, memory.data() + at, size));
  };
  EXPECT_EQ(attach(500, 1000), MPI_ERR_RMA_ATTACH);
  EXPECT_EQ(attach(500, 10), MPI_ERR_RMA_ATTACH);
  EXPECT_EQ(attach(0, 1000), MPI_ERR_RMA_ATTACH);
  EXPECT_EQ(attach(2000, -5), MPI_ERR_SIZE);
  EXPECT_EQ(attach(1000, 1000), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_detach(win, memory.data()), MPI_SUCCESS);
  MPI_Aint here, there;
  MPI_Get_address(memory.data(), &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, rank_before(), 0, &there, 1, MPI_AINT, next_rank(), 0,
               check::world, MPI_STATUS_IGNORE);
  char got = -1;
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, win);
  MPI_Get(&got, 1, MPI_CHAR, next_rank(), there + 999, 1, MPI_CHAR, win);
  EXPECT_EQ(class_of(MPI_Win_flush(next_rank(), win)), MPI_ERR_RMA_RANGE);
  MPI_Get(&got, 1, MPI_CHAR, next_rank(), there + 1000, 1, MPI_CHAR, win);
  EXPECT_EQ(MPI_Win_unlock(next_rank(), win), MPI_SUCCESS);
  EXPECT_EQ(got, next_rank());
  MPI_Win_free(&win);
  Words words(1);
  EXPECT_EQ(class_of(MPI_Win_attach(words.win, memory.data(), 8)), MPI_ERR_RMA_FLAVOR);
  EXPECT_EQ(class_of(MPI_Win_detach(words.win, memory.data())), MPI_ERR_RMA_FLAVOR);
}

struct ShortInt {
  short value;
  short gap;
  int index;
};

// A pair has a gap, which nobody may write to; several pairs may be adjacent.
void pairs_with_gaps_inside() {
  Words words(4);
  auto* const here = reinterpret_cast<ShortInt*>(words.memory);
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
    const auto* here = reinterpret_cast<const double*>(words.memory);
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

struct Seen {
  int calls = 0, members = 0;
  void* base = nullptr;
  MPI_Aint size = -1;
} seen;

int look_at_window(MPI_Win win, int, void*, void*) {
  MPI_Group group;
  void* value = nullptr;
  int flag = 0;
  ++seen.calls;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  if (flag) seen.base = value;
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  if (flag) seen.size = *static_cast<MPI_Aint*>(value);
  MPI_Win_get_group(win, &group);
  MPI_Group_size(group, &seen.members);
  MPI_Group_free(&group);
  return MPI_SUCCESS;
}

// It is still a window.
void a_callback_looks_at_a_window_that_is_freed() {
  int keyval;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, look_at_window, &keyval, nullptr);
  for (int round = 0; round < 3; ++round) {
    seen = {};
    const void* base;
    {
      Words words(4);
      base = words.memory;
      MPI_Win_set_attr(words.win, keyval, nullptr);
    }
    EXPECT_EQ(seen.calls, 1);
    EXPECT(seen.base == base);
    EXPECT_EQ(seen.size, 32);
    EXPECT_EQ(seen.members, ranks);
  }
  MPI_Win_free_keyval(&keyval);
}

void memory_is_aligned_as_was_asked() {
  for (const char* bytes : {"64", "8192", "2097152"}) {
    MPI_Info info = check::info("mpi_minimum_memory_alignment", bytes);
    for (const MPI_Aint size : {MPI_Aint{100}, MPI_Aint{100000}}) {
      void* base = nullptr;
      MPI_Win win;
      MPI_Win_allocate(size, 1, info, check::world, &base, &win);
      if (check::cached())
        EXPECT_EQ(reinterpret_cast<uintptr_t>(base) % static_cast<uintptr_t>(std::atoi(bytes)), 0);
      std::memset(base, 1, static_cast<size_t>(size));
      MPI_Win_free(&win);
    }
    MPI_Info_free(&info);
  }
}

// The standard's info keys, whether the window was created with them or they were set later.
void info_keys_are_told() {
  if (!check::cached()) return check::skip("hosts tell some of them only");
  const std::pair<const char*, const char*> keys[] = {{"no_locks", "true"},
                                                      {"accumulate_ordering", "rar,waw"},
                                                      {"accumulate_ops", "same_op"},
                                                      {"same_size", "true"},
                                                      {"same_disp_unit", "true"}};
  const auto value_of = [](MPI_Win win, const char* key) {
    MPI_Info all;
    char value[64] = {};
    int found = 0;
    MPI_Win_get_info(win, &all);
    MPI_Info_get(all, key, sizeof value - 1, value, &found);
    MPI_Info_free(&all);
    return std::string(found ? value : "none");
  };
  for (const bool dynamic : {false, true}) {
    for (const auto& [key, value] : keys) {
      // One for each call: MPICH 4.0 changes what it reads.
      MPI_Info info = check::info(key, value), again = check::info(key, value);
      MPI_Info wrong = check::info(key, "nonsense");
      MPI_Win without, with;
      int64_t memory = 0;
      if (dynamic) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &without);
        MPI_Win_create_dynamic(info, check::world, &with);
      } else {
        MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, check::world, &without);
        MPI_Win_create(&memory, 8, 8, info, check::world, &with);
      }
      EXPECT(value_of(with, key) == value);
      const std::string standard = value_of(without, key);
      EXPECT(standard != "none" && standard != value);
      MPI_Win_set_errhandler(without, MPI_ERRORS_RETURN);
      MPI_Win_set_info(without, wrong);  // an error or ignored
      EXPECT(value_of(without, key) == standard);
      MPI_Win_set_info(without, again);
      EXPECT(value_of(without, key) == value);
      // MPICH's key: this memory is not from MPI.
      EXPECT(value_of(with, "alloc_shm") != "true");
      MPI_Win_free(&without);
      MPI_Win_free(&with);
      for (MPI_Info* each : {&info, &again, &wrong}) MPI_Info_free(each);
    }
  }
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

// Freeing a request does not wait: the target makes no progress until this rank tells it to.
void a_request_that_is_freed_is_not_waited_for() {
  Words words(2);
  words.memory[0] = 50 + rank;
  MPI_Barrier(check::world);
  int note = 0;
  int64_t got[2] = {-1, -1};
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
    MPI_Barrier(check::world);
    MPI_Recv(&note, 1, MPI_INT, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
  } else {
    MPI_Barrier(check::world);
  }
  if (rank == 1) {
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Rget(&got[0], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &request);
    MPI_Request_free(&request);
    EXPECT(request == MPI_REQUEST_NULL);
    MPI_Send(&note, 1, MPI_INT, 0, 0, check::world);
    MPI_Rget(&got[1], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
    EXPECT(got[0] == 50 && got[1] == 50);
  }
}

void epochs_with_nobody() {
  Words words(1);
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(MPI_Win_start(MPI_GROUP_EMPTY, 0, words.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_post(MPI_GROUP_EMPTY, 0, words.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_complete(words.win), MPI_SUCCESS);
    int done = 0;
    EXPECT_EQ(MPI_Win_test(words.win, &done), MPI_SUCCESS);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(MPI_Win_post(MPI_GROUP_EMPTY, 0, words.win), MPI_SUCCESS);
    EXPECT_EQ(MPI_Win_wait(words.win), MPI_SUCCESS);
  }
}

// Epochs of two windows, closed in opposite order, with operations on both.
void epochs_of_two_windows_overlap() {
  Words first(2), second(2);
  MPI_Group all, to, from;
  MPI_Comm_group(check::world, &all);
  const int after = next_rank(), before = rank_before();
  MPI_Group_incl(all, 1, &after, &to);
  MPI_Group_incl(all, 1, &before, &from);
  for (int64_t round = 1; round < 10; ++round) {
    MPI_Win_post(from, 0, first.win);
    MPI_Win_post(from, 0, second.win);
    MPI_Win_start(to, 0, second.win);
    MPI_Win_start(to, 0, first.win);
    MPI_Put(&round, 1, MPI_INT64_T, after, 0, 1, MPI_INT64_T, first.win);
    MPI_Put(&round, 1, MPI_INT64_T, after, 1, 1, MPI_INT64_T, second.win);
    MPI_Win_complete(first.win);
    MPI_Win_wait(first.win);
    EXPECT_EQ(first.memory[0], round);
    MPI_Put(&round, 1, MPI_INT64_T, after, 0, 1, MPI_INT64_T, second.win);
    MPI_Win_complete(second.win);
    MPI_Win_wait(second.win);
    EXPECT(second.memory[0] == round && second.memory[1] == round);
  }
  for (MPI_Group* group : {&all, &to, &from}) MPI_Group_free(group);
}

// Calls outside an epoch, or in the wrong one.
void calls_out_of_their_epoch() {
  if (!check::cached()) return check::skip("hosts differ in what they find");
  Words words(1);
  const MPI_Win win = words.win;
  const int to = next_rank();
  MPI_Win copy = win;
  int done = 7;
  EXPECT_EQ(class_of(MPI_Win_complete(win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_wait(win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_test(win, &done)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_flush_all(win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_flush_local(to, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_flush_local_all(win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_fence(MPI_MODE_NOCHECK, win)), MPI_ERR_ASSERT);
  EXPECT_EQ(class_of(MPI_Win_lock_all(MPI_MODE_NOPUT, win)), MPI_ERR_ASSERT);
  EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, MPI_MODE_NOPUT, win)), MPI_ERR_ASSERT);
  for (const bool all : {false, true}) {
    EXPECT_EQ(all ? MPI_Win_lock_all(0, win) : MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win),
              MPI_SUCCESS);
    EXPECT_EQ(class_of(MPI_Win_fence(0, win)), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(class_of(MPI_Win_start(MPI_GROUP_EMPTY, 0, win)), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(class_of(MPI_Win_lock_all(0, win)), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win)), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(class_of(all ? MPI_Win_unlock(to, win) : MPI_Win_unlock_all(win)), MPI_ERR_RMA_SYNC);
    EXPECT_EQ(class_of(MPI_Win_free(&copy)), MPI_ERR_RMA_SYNC);
    EXPECT(copy == win);
    EXPECT_EQ(all ? MPI_Win_unlock_all(win) : MPI_Win_unlock(to, win), MPI_SUCCESS);
  }
  MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
  MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
  EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_lock_all(0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_start(MPI_GROUP_EMPTY, 0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_post(MPI_GROUP_EMPTY, 0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_fence(0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_free(&copy)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(MPI_Win_complete(win), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Win_free(&copy)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(MPI_Win_wait(win), MPI_SUCCESS);
}

// A handler of the program that uses the window for which it was called.
int handled = 0;
void handle_error(MPI_Win* win, int*, ...) {
  ++handled;
  int64_t got = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, *win);
  MPI_Get(&got, 1, MPI_INT64_T, rank, 0, 1, MPI_INT64_T, *win);
  MPI_Win_unlock(rank, *win);
  handled += static_cast<int>(got);
}

void a_handler_uses_its_window() {
  if (!check::cached()) return check::skip("hosts find other errors");
  Words words(1);
  words.memory[0] = 10;
  MPI_Errhandler handler;
  MPI_Win_create_errhandler(handle_error, &handler);
  MPI_Win_set_errhandler(words.win, handler);
  handled = 0;
  EXPECT_EQ(class_of(MPI_Win_unlock(rank, words.win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(handled, 11);
  EXPECT_EQ(class_of(MPI_Win_complete(words.win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(handled, 22);
  MPI_Errhandler_free(&handler);
}

int told = 0;
void count_error(MPI_Win*, int* code, ...) { told += class_of(*code) == MPI_ERR_RMA_RANGE; }

// By the fence, or by the end of the window: the other rank already waits in the fence.
void what_the_last_fence_did_not_know_is_told() {
  if (!check::cached()) return check::skip("hosts find other errors");
  MPI_Errhandler handler;
  MPI_Comm two;
  MPI_Win_create_errhandler(count_error, &handler);
  MPI_Comm_split(check::world, rank / 2, rank, &two);
  told = 0;
  {
    Words words(2, two);
    MPI_Win_set_errhandler(words.win, handler);
    const int64_t one = 1;
    MPI_Win_fence(0, words.win);
    if (rank == 0) {
      usleep(20000);
      MPI_Put(&one, 1, MPI_INT64_T, 1, 2, 1, MPI_INT64_T, words.win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
  }
  EXPECT_EQ(told, rank == 0);
  MPI_Comm_free(&two);
  MPI_Errhandler_free(&handler);
}

// Of several requests, the status of the one that failed has its error.
void the_request_that_failed_is_named(const char* call) {
  if (!check::cached()) return check::skip("hosts find other errors");
  const bool all = call == std::string("Testall") || call == std::string("Waitall");
  Words words(4);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
  MPI_Barrier(check::world);
  if (rank == 1) {
    constexpr int count = 3, failing = 1;
    MPI_Request requests[count];
    MPI_Status statuses[count];
    int64_t got[2] = {};
    int done = 0, at = 0, places[count];
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Irecv(nullptr, 0, MPI_BYTE, 1, 4, check::world, &requests[0]);
    MPI_Rget(&got[0], 1, MPI_INT64_T, 0, 4, 1, MPI_INT64_T, words.win, &requests[failing]);
    MPI_Rget(&got[1], 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win, &requests[2]);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(MPI_Testall(count, requests, &done, statuses), MPI_SUCCESS);
      EXPECT_EQ(done, 0);
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, check::world);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 4, check::world);
    for (int left = count; left > 0;) {
      int rc = MPI_SUCCESS, failed = -1;
      for (MPI_Status& each : statuses) each.MPI_ERROR = -1;
      if (call == std::string("Waitall")) {
        rc = MPI_Waitall(count, requests, statuses), done = count;
      } else if (call == std::string("Testall")) {
        rc = MPI_Testall(count, requests, &done, statuses), done = done ? count : 0;
      } else if (call == std::string("Waitsome")) {
        rc = MPI_Waitsome(count, requests, &done, places, statuses);
      } else if (call == std::string("Testsome")) {
        rc = MPI_Testsome(count, requests, &done, places, statuses);
      } else if (call == std::string("Waitany")) {
        rc = MPI_Waitany(count, requests, &at, statuses), done = 1;
        failed = rc != MPI_SUCCESS ? at : -1;
        EXPECT_EQ(class_of(rc), at == failing ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
      } else {
        rc = MPI_Wait(&requests[at], statuses), done = 1;
        failed = rc != MPI_SUCCESS ? at : -1;
        EXPECT_EQ(class_of(rc), at == failing ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        ++at;
      }
      left -= done;
      if (rc == MPI_SUCCESS) continue;
      for (int i = 0; i < done && rc == MPI_ERR_IN_STATUS; ++i) {
        const int place = all ? i : places[i];
        EXPECT_EQ(class_of(statuses[i].MPI_ERROR),
                  place == failing ? MPI_ERR_RMA_RANGE : MPI_SUCCESS);
        if (place == failing) failed = failing;
      }
      EXPECT_EQ(failed, failing);
    }
    MPI_Win_unlock(1, words.win);
    EXPECT_EQ(MPI_Win_unlock(0, words.win), MPI_SUCCESS);
  } else if (rank == 0) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
  }
  MPI_Barrier(check::world);
}

// By then, its communicator's handle belongs to another one.
void the_communicator_of_a_window_is_freed_before_it() {
  for (int round = 0; round < 5; ++round) {
    MPI_Comm copy, half;
    MPI_Comm_dup(check::world, &copy);
    auto words = std::make_unique<Words>(4, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_split(check::world, rank % 2, -rank, &half);
    int me, all;
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &all);
    auto some = std::make_unique<Words>(4, half);
    MPI_Comm_free(&half);
    const int64_t mine = 100 * round + rank;
    MPI_Win_fence(0, words->win);
    MPI_Win_fence(0, some->win);
    MPI_Put(&mine, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words->win);
    MPI_Put(&mine, 1, MPI_INT64_T, (me + 1) % all, 0, 1, MPI_INT64_T, some->win);
    MPI_Win_fence(0, some->win);
    MPI_Win_fence(0, words->win);
    EXPECT_EQ(words->memory[0], 100 * round + rank_before());
    int neighbour = -1;
    MPI_Group group, world;
    MPI_Win_get_group(some->win, &group);
    MPI_Comm_group(check::world, &world);
    const int before = (me + all - 1) % all;
    MPI_Group_translate_ranks(group, 1, &before, world, &neighbour);
    EXPECT_EQ(some->memory[0], 100 * round + neighbour);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
  }
}

// Windows of one rank, which never sends anything.
void windows_on_comm_self() {
  Words words(4, MPI_COMM_SELF);
  const int64_t one = 1;
  int64_t old = -1;
  for (int i = 0; i < 3; ++i) {
    MPI_Win_fence(0, words.win);
    MPI_Put(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, words.win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, words.win);
    MPI_Win_unlock(0, words.win);
    EXPECT_EQ(old, i);
  }
  EXPECT(words.memory[0] == 3 && words.memory[1] == 1);
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
  auto* const here = reinterpret_cast<int*>(words.memory);
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

// Operations issued to another rank are also sent when the program ends an epoch of another window
// and then computes: the other rank may wait for them.
void the_end_of_an_epoch_sends_what_waits_for_more() {
  if (!check::cached()) return check::skip("hosts need not");
  Words near(4);
  MPI_Win win;
  std::vector<int64_t> own(4);
  MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
  MPI_Win_attach(win, own.data(), 32);
  MPI_Aint here, there;
  MPI_Get_address(own.data(), &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, rank_before(), 0, &there, 1, MPI_AINT, next_rank(), 0,
               check::world, MPI_STATUS_IGNORE);
  const volatile int64_t *asked = own.data(), *answered = near.memory;
  MPI_Win_lock_all(0, win);
  for (int way = 0; way < 4; ++way) {
    const int64_t one = 1, two = 2, nothing = 0;
    MPI_Group everybody, one_of_them;
    MPI_Comm_group(check::world, &everybody);
    MPI_Barrier(check::world);
    if (rank == 0) {
      const auto ask = [&] { MPI_Put(&one, 1, MPI_INT64_T, 1, there, 1, MPI_INT64_T, win); };
      const int to = 1;
      MPI_Group_incl(everybody, 1, &to, &one_of_them);
      if (way == 0) MPI_Win_lock(MPI_LOCK_SHARED, 2 % ranks, 0, near.win);
      if (way == 1) MPI_Win_lock_all(0, near.win);
      if (way == 2) MPI_Win_post(one_of_them, 0, near.win);
      if (way == 2) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, check::world, MPI_STATUS_IGNORE);
      ask();
      usleep(20000);  // so that the others wait for this rank alone
      if (way == 0) MPI_Win_unlock(2 % ranks, near.win);
      if (way == 1) MPI_Win_unlock_all(near.win);
      if (way == 2) MPI_Win_wait(near.win);
      if (way == 3) MPI_Win_fence(MPI_MODE_NOSUCCEED, near.win);
      const double end = MPI_Wtime() + 10;
      while (*answered != 2 && MPI_Wtime() < end) {
      }
      check::expect(*answered == 2, "nothing came in way %d", way);
      MPI_Group_free(&one_of_them);
    } else {
      const int to = 0;
      MPI_Group_incl(everybody, 1, &to, &one_of_them);
      if (way == 2 && rank == 1) {
        MPI_Win_start(one_of_them, 0, near.win);
        MPI_Win_complete(near.win);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, check::world);
      }
      if (way == 3) MPI_Win_fence(MPI_MODE_NOSUCCEED, near.win);
      while (rank == 1 && *asked != 1) MPI_Win_sync(win);
      if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, near.win);
        MPI_Put(&two, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, near.win);
        MPI_Win_unlock(0, near.win);
      }
      MPI_Group_free(&one_of_them);
    }
    MPI_Group_free(&everybody);
    MPI_Barrier(check::world);
    near.memory[0] = own[0] = nothing;
    MPI_Win_sync(win);
    MPI_Win_sync(near.win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_detach(win, own.data());
  MPI_Win_free(&win);
}

// Not even if that error is known by then: the next flush returns it.
void a_put_with_a_request_has_no_error_of_an_earlier_one() {
  if (!check::cached()) return check::skip("hosts find other errors");
  Words words(4), other(4);
  const int64_t one = 1;
  int64_t got[2] = {};
  MPI_Request requests[2];
  const int to = next_rank();
  MPI_Win_lock_all(0, words.win);
  MPI_Win_lock_all(0, other.win);
  MPI_Put(&one, 1, MPI_INT64_T, to, 4, 1, MPI_INT64_T, words.win);
  MPI_Get(&got[0], 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, words.win);
  MPI_Get(&got[1], 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T, other.win);
  MPI_Win_flush(to, other.win);  // answers come in order
  EXPECT_EQ(MPI_Rput(&one, 1, MPI_INT64_T, to, 1, 1, MPI_INT64_T, words.win, &requests[0]),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Raccumulate(&one, 1, MPI_INT64_T, to, 2, 1, MPI_INT64_T, MPI_SUM, words.win,
                            &requests[1]),
            MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Win_flush(to, words.win)), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  MPI_Win_unlock_all(other.win);
  EXPECT_EQ(MPI_Win_unlock_all(words.win), MPI_SUCCESS);
  MPI_Barrier(check::world);
  EXPECT_EQ(words.memory[1] + words.memory[2], 2);
}

// Complete whatever else is in flight to the same target; here, a get that waits for a lock.
void puts_with_a_request_are_complete_at_once() {
  if (!check::cached()) return check::skip("hosts need not");
  Words words(4);
  const int64_t one = 1;
  int64_t got = -1;
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
  MPI_Barrier(check::world);
  if (rank == 1) {
    MPI_Request requests[3];
    int complete = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Rget(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win, &requests[0]);
    MPI_Rput(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, words.win, &requests[1]);
    MPI_Raccumulate(&one, 1, MPI_INT64_T, 0, 2, 1, MPI_INT64_T, MPI_SUM, words.win, &requests[2]);
    for (MPI_Request& each : {std::ref(requests[2]), std::ref(requests[1])}) {
      MPI_Test(&each, &complete, MPI_STATUS_IGNORE);
      EXPECT_EQ(complete, 1);
    }
    MPI_Test(&requests[0], &complete, MPI_STATUS_IGNORE);
    EXPECT_EQ(complete, 0);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, check::world);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(0, words.win);
    EXPECT_EQ(got, 7);
  } else if (rank == 0) {
    words.memory[0] = 7;
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, words.win);
  }
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, words.win);
  EXPECT_EQ(words.memory[1] + words.memory[2], rank == 0 ? 2 : 0);
  MPI_Win_unlock(rank, words.win);
}

// Rank 0 waits by calls that the engine answers until rank 1 tells that a message of rank 0's has
// come: `looks` makes one such call, or several, and says whether that is so.
template <class Looks, class Tells>
void wait_for_a_message_to_come(Looks looks, Tells tells) {
  constexpr int many = 1 << 20;  // more than a host sends before the other end asks for it
  std::vector<int> message(many);
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(message.data(), many, MPI_INT, 1, 0, check::world, &request);
    bool told = false;
    for (const double began = MPI_Wtime(); !told && MPI_Wtime() - began < 10;) told = looks();
    EXPECT(told);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    usleep(2000);
    MPI_Recv(message.data(), many, MPI_INT, 0, 0, check::world, MPI_STATUS_IGNORE);
    tells();
  }
}

// Many hosts move them only while they are called.
void messages_move_while_calls_in_a_passive_epoch_wait() {
  int64_t got = 0;
  const int64_t one = 1;
  Words words(1);
  const auto get = [&] { MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win); };
  const std::function<void()> ways[] = {[&] { get(), MPI_Win_flush(1, words.win); },
                                        [&] { get(), MPI_Win_flush_all(words.win); },
                                        [&] { get(), MPI_Win_flush_local(1, words.win); },
                                        [&] {
                                          MPI_Fetch_and_op(nullptr, &got, MPI_INT64_T, 1, 0,
                                                           MPI_NO_OP, words.win);
                                          MPI_Win_flush(1, words.win);
                                        },
                                        [&] {
                                          MPI_Win_sync(words.win);
                                          got = *static_cast<volatile int64_t*>(words.memory);
                                        },
                                        [&] {
                                          MPI_Win_unlock_all(words.win);
                                          MPI_Win_lock_all(0, words.win);
                                          get();
                                          MPI_Win_flush(1, words.win);
                                        }};
  for (const auto& way : ways) {
    words.memory[0] = got = 0;
    MPI_Barrier(check::world);
    MPI_Win_lock_all(0, words.win);
    wait_for_a_message_to_come([&] { return way(), got != 0; },
                               [&] {
                                 for (int to = 0; to < 2; ++to)
                                   MPI_Accumulate(&one, 1, MPI_INT64_T, to, 0, 1, MPI_INT64_T,
                                                  MPI_REPLACE, words.win);
                                 MPI_Win_flush_all(words.win);
                               });
    MPI_Win_unlock_all(words.win);
    MPI_Barrier(check::world);
  }
}

void messages_move_while_locks_and_tests_wait() {
  int64_t got = 0;
  const int64_t one = 1;
  Words words(1);
  wait_for_a_message_to_come(
      [&] {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
        MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
        MPI_Win_unlock(1, words.win);
        return got != 0;
      },
      [&] {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, words.win);
        MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
        MPI_Win_unlock(1, words.win);
      });
  MPI_Group all, other;
  MPI_Comm_group(check::world, &all);
  const int peer = 1 - rank;
  MPI_Group_incl(all, rank < 2, &peer, &other);
  if (rank == 0) MPI_Win_post(other, 0, words.win);
  int done = 0;
  wait_for_a_message_to_come([&] { return MPI_Win_test(words.win, &done), done != 0; },
                             [&] {
                               MPI_Win_start(other, 0, words.win);
                               MPI_Win_complete(words.win);
                             });
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}

// How many segments with data this process has sent over TCP.
int64_t segments_sent() {
  int64_t sent = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(each.path().filename().string());
    tcp_info info{};
    socklen_t bytes = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0)
      sent += info.tcpi_data_segs_out;
  }
  return sent;
}

// The engine enters the host in a flush when it has not done so for 100 us.
void what_is_held_goes_with_the_flush_that_enters_the_host() {
  if (!check::cached()) return check::skip("about the engine");
  Words words(2);
  constexpr int64_t times = 100;
  MPI_Win_lock_all(0, words.win);
  if (rank == 0) {
    int64_t before = 0;
    for (int64_t i = 0; i <= times; ++i) {
      for (const double began = MPI_Wtime(); MPI_Wtime() - began < 150e-6;) {
      }
      MPI_Put(&i, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, words.win);
      MPI_Win_flush(1, words.win);
      if (i == 0) before = segments_sent();
    }
    EXPECT(segments_sent() - before < times + times / 2);
  }
  MPI_Win_unlock_all(words.win);
  MPI_Barrier(check::world);
}

// Of predefined types and operations, as far as the host has them: what an accumulate makes of
// memory is what a reduction makes of it.
void accumulates_are_as_reductions() {
  const Named types[] = {{"char", MPI_CHAR},
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
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC};
  const char* const names[] = {"sum",  "prod", "min", "max",  "land",   "lor",
                               "lxor", "band", "bor", "bxor", "minloc", "maxloc"};
  Words words(64);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constexpr int count = 3;
  for (const Named& each : types) {
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
      std::memcpy(words.memory, second.data(), second.size());
      MPI_Win_fence(0, words.win);
      const int code = MPI_Accumulate(first.data(), count, each.type, next_rank(), 0, count,
                                      each.type, ops[op], words.win);
      MPI_Win_fence(0, words.win);
      if (known) check::expect(code == MPI_SUCCESS, "%s of %s", names[op], each.name);
      auto* const got = reinterpret_cast<char*>(words.memory);
      clear_gaps(each.type, got, reduced.size());
      clear_gaps(each.type, reduced.data(), reduced.size());
      if (known && code == MPI_SUCCESS)
        check::expect(std::memcmp(got, reduced.data(), reduced.size()) == 0, "%s of %s differs",
                      names[op], each.name);
      MPI_Win_fence(0, words.win);
    }
  }
}

MPI_Win left = MPI_WIN_NULL;
int64_t left_word = 0;

// Called first by MPI_Finalize, as for libraries whose windows end with MPI.
int end_of_mpi(MPI_Comm, int, void*, void*) {
  const int64_t mine = 60 + rank;
  MPI_Win_fence(0, left);
  MPI_Put(&mine, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, left);
  MPI_Win_fence(0, left);
  bool put = left_word == 60 + rank_before();
  // The others wait for the last rank only; no rank but they can answer it.
  MPI_Win_fence(0, left);
  if (rank == ranks - 1) {
    usleep(20000);
    MPI_Put(&mine, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, left);
  }
  MPI_Win_fence(0, left);
  if (rank == 0) put = put && left_word == 60 + ranks - 1;
  const bool freed = MPI_Win_free(&left) == MPI_SUCCESS && left == MPI_WIN_NULL;
  std::printf("%s: rank %d\n", put && freed ? "its window was freed" : "FAILED", rank);
  std::fflush(stdout);
  return MPI_SUCCESS;
}

// The last case: its result is printed when MPI ends.
void a_window_that_is_freed_when_mpi_ends() {
  int keyval;
  MPI_Win_create(&left_word, 8, 8, MPI_INFO_NULL, check::world, &left);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_mpi, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 2, {
    {"null_handles_are_errors_of_the_window", null_handles_are_errors_of_the_window},
        {"failed_request_of_wait", [] { the_request_that_failed_is_named("Wait"); }},
        {"failed_request_of_waitany", [] { the_request_that_failed_is_named("Waitany"); }},
        {"failed_request_of_waitall", [] { the_request_that_failed_is_named("Waitall"); }},
        {"failed_request_of_testall", [] { the_request_that_failed_is_named("Testall"); }},
        {"failed_request_of_waitsome", [] { the_request_that_failed_is_named("Waitsome"); }},
        {"failed_request_of_testsome", [] { the_request_that_failed_is_named("Testsome"); }},
#if MPI_VERSION >= 4
        {"counts_whose_bytes_overflow_are_errors", counts_whose_bytes_overflow_are_errors},
        {"large_counts_of_every_call", large_counts_of_every_call},
#endif
        {"absolute_addresses_in_dynamic_windows", absolute_addresses_in_dynamic_windows},
        {"memory_that_cannot_be_attached", memory_that_cannot_be_attached},
        {"pairs_with_gaps_inside", pairs_with_gaps_inside},
        {"pairs_with_gaps_behind", pairs_with_gaps_behind},
        {"types_that_fortran_asks_for_by_their_precision",
         types_that_fortran_asks_for_by_their_precision},
        {"the_compared_value_is_replaced_by_the_old_one",
         the_compared_value_is_replaced_by_the_old_one},
        {"a_callback_looks_at_a_window_that_is_freed", a_callback_looks_at_a_window_that_is_freed},
        {"memory_is_aligned_as_was_asked", memory_is_aligned_as_was_asked},
        {"info_keys_are_told", info_keys_are_told},
        {"structs_with_empty_parts", structs_with_empty_parts},
        {"a_request_that_is_freed_is_not_waited_for", a_request_that_is_freed_is_not_waited_for},
        {"epochs_with_nobody", epochs_with_nobody},
        {"epochs_of_two_windows_overlap", epochs_of_two_windows_overlap},
        {"calls_out_of_their_epoch", calls_out_of_their_epoch},
        {"a_handler_uses_its_window", a_handler_uses_its_window},
        {"what_the_last_fence_did_not_know_is_told", what_the_last_fence_did_not_know_is_told},
        {"the_communicator_of_a_window_is_freed_before_it",
         the_communicator_of_a_window_is_freed_before_it},
        {"windows_on_comm_self", windows_on_comm_self},
        {"datatypes_of_all_shapes", datatypes_of_all_shapes},
        {"the_end_of_an_epoch_sends_what_waits_for_more",
         the_end_of_an_epoch_sends_what_waits_for_more},
        {"a_put_with_a_request_has_no_error_of_an_earlier_one",
         a_put_with_a_request_has_no_error_of_an_earlier_one},
        {"puts_with_a_request_are_complete_at_once", puts_with_a_request_are_complete_at_once},
        {"messages_move_while_calls_in_a_passive_epoch_wait",
         messages_move_while_calls_in_a_passive_epoch_wait},
        {"messages_move_while_locks_and_tests_wait", messages_move_while_locks_and_tests_wait},
        {"what_is_held_goes_with_the_flush_that_enters_the_host",
         what_is_held_goes_with_the_flush_that_enters_the_host},
        {"accumulates_are_as_reductions", accumulates_are_as_reductions}, {
      "a_window_that_is_freed_when_mpi_ends", a_window_that_is_freed_when_mpi_ends
    }
  });
}
