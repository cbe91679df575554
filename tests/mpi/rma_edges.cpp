// The RMA engine where calls are unusual but valid or wrong: null handles, counts that overflow,
// types with gaps, callbacks, and the end of MPI with windows left.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "rma_words.h"

void add_type_cases(std::vector<check::Case>& cases);      // rma_edges_types.cpp
void add_progress_cases(std::vector<check::Case>& cases);  // rma_edges_progress.cpp

namespace {

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

// Its handle is all zeros, as that of the fast path is while there is none (mpi/rma/straight.h).
void a_window_that_never_was_is_an_error() {
  if (!check::cached()) return check::skip("hosts end, or find nothing wrong");
  const MPI_Win none{};
  int64_t word = 0, got = 0;
  const MPI_Datatype type = MPI_INT64_T;
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (const int to : {INT_MIN, -1, 0}) {
    EXPECT(MPI_Win_flush(to, none) != MPI_SUCCESS);
    EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, none) != MPI_SUCCESS);
    EXPECT(MPI_Win_unlock(to, none) != MPI_SUCCESS);
    EXPECT(MPI_Put(&word, 1, type, to, 0, 1, type, none) != MPI_SUCCESS);
    EXPECT(MPI_Get(&got, 1, type, to, 0, 1, type, none) != MPI_SUCCESS);
    EXPECT(MPI_Accumulate(&word, 1, type, to, 0, 1, type, MPI_SUM, none) != MPI_SUCCESS);
    EXPECT(MPI_Fetch_and_op(&word, &got, type, to, 0, MPI_SUM, none) != MPI_SUCCESS);
    EXPECT(MPI_Compare_and_swap(&word, &word, &got, type, to, 0, none) != MPI_SUCCESS);
  }
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF})
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
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
      base = words.memory.data();
      MPI_Win_set_attr(words.win, keyval, nullptr);
    }
    EXPECT_EQ(seen.calls, 1);
    EXPECT(seen.base == base);
    EXPECT_EQ(seen.size, 32);
    EXPECT_EQ(seen.members, ranks);
  }
  MPI_Win_free_keyval(&keyval);
}

int fail_once(MPI_Win, int, void*, void* failed) {
  return std::exchange(*static_cast<bool*>(failed), true) ? MPI_SUCCESS : MPI_ERR_OTHER;
}

// Open MPI alone crashes.
void a_window_remains_if_a_callback_fails() {
#ifdef OPEN_MPI
  check::skip("this MPI does not survive it");
#else
  bool failed = false;
  int keyval;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, fail_once, &keyval, &failed);
  int64_t* memory = nullptr;
  MPI_Win win;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, check::world, &memory, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_set_attr(win, keyval, nullptr);
  EXPECT(MPI_Win_free(&win) != MPI_SUCCESS);
  EXPECT(win != MPI_WIN_NULL);
  int64_t* other_memory = nullptr;
  MPI_Win other;
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, check::world, &other_memory, &other);
  EXPECT(memory != other_memory);
  const int64_t value = 7 + rank;
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT64_T, next, 3, 1, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
  EXPECT_EQ(memory[3], 7 + previous);
  MPI_Win_free(&other);
  EXPECT_EQ(MPI_Win_free(&win), MPI_SUCCESS);
  EXPECT(win == MPI_WIN_NULL);
  MPI_Win_free_keyval(&keyval);
#endif
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

// The call that returns the error has completed everything else: the program has its buffers back,
// which neither are written later nor have their contents taken for the target's.
void gets_beside_an_operation_that_fails_are_complete() {
  if (!check::cached()) return check::skip("hosts find other errors");
  Words words(20);
  for (int i = 0; i < 20; ++i) words.memory[i] = 100 + i;
  MPI_Barrier(check::world);
  const auto get = [&](int64_t* to, int at) {
    MPI_Get(to, 1, MPI_INT64_T, next_rank(), at, 1, MPI_INT64_T, words.win);
  };
  for (int i = 0; i < 4; ++i) {
    int64_t first = 0, again = 0, other = 0, later = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
    get(&first, i);
    get(&again, i);
    MPI_Put(&other, 1, MPI_INT64_T, next_rank(), 100, 1, MPI_INT64_T, words.win);
    EXPECT_EQ(class_of(MPI_Win_unlock(next_rank(), words.win)), MPI_ERR_RMA_RANGE);
    EXPECT(first == 100 + i && again == 100 + i);
    first = again = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
    get(&other, 10 + i);
    EXPECT_EQ(class_of(MPI_Win_flush(next_rank(), words.win)), MPI_SUCCESS);
    get(&later, i);
    EXPECT_EQ(class_of(MPI_Win_unlock(next_rank(), words.win)), MPI_SUCCESS);
    EXPECT(other == 110 + i && later == 100 + i);
    EXPECT(first == -1 && again == -1);
  }
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
  std::vector<check::Case> cases = {
      {"null_handles_are_errors_of_the_window", null_handles_are_errors_of_the_window},
      {"a_window_that_never_was_is_an_error", a_window_that_never_was_is_an_error},
      {"failed_request_of_wait", [] { the_request_that_failed_is_named("Wait"); }},
      {"failed_request_of_waitany", [] { the_request_that_failed_is_named("Waitany"); }},
      {"failed_request_of_waitall", [] { the_request_that_failed_is_named("Waitall"); }},
      {"failed_request_of_testall", [] { the_request_that_failed_is_named("Testall"); }},
      {"failed_request_of_waitsome", [] { the_request_that_failed_is_named("Waitsome"); }},
      {"failed_request_of_testsome", [] { the_request_that_failed_is_named("Testsome"); }}};
#if MPI_VERSION >= 4
  cases.insert(cases.end(),
               {{"counts_whose_bytes_overflow_are_errors", counts_whose_bytes_overflow_are_errors},
                {"large_counts_of_every_call", large_counts_of_every_call}});
#endif
  cases.insert(
      cases.end(),
      {{"absolute_addresses_in_dynamic_windows", absolute_addresses_in_dynamic_windows},
       {"memory_that_cannot_be_attached", memory_that_cannot_be_attached},
       {"a_callback_looks_at_a_window_that_is_freed", a_callback_looks_at_a_window_that_is_freed},
       {"a_window_remains_if_a_callback_fails", a_window_remains_if_a_callback_fails},
       {"memory_is_aligned_as_was_asked", memory_is_aligned_as_was_asked},
       {"info_keys_are_told", info_keys_are_told},
       {"epochs_with_nobody", epochs_with_nobody},
       {"epochs_of_two_windows_overlap", epochs_of_two_windows_overlap},
       {"calls_out_of_their_epoch", calls_out_of_their_epoch},
       {"a_handler_uses_its_window", a_handler_uses_its_window},
       {"what_the_last_fence_did_not_know_is_told", what_the_last_fence_did_not_know_is_told},
       {"gets_beside_an_operation_that_fails_are_complete",
        gets_beside_an_operation_that_fails_are_complete},
       {"the_communicator_of_a_window_is_freed_before_it",
        the_communicator_of_a_window_is_freed_before_it},
       {"windows_on_comm_self", windows_on_comm_self},
       {"a_put_with_a_request_has_no_error_of_an_earlier_one",
        a_put_with_a_request_has_no_error_of_an_earlier_one}});
  add_type_cases(cases);
  add_progress_cases(cases);
  cases.push_back({"a_window_that_is_freed_when_mpi_ends", a_window_that_is_freed_when_mpi_ends});
  return check::run(argc, argv, 2, cases);
}
