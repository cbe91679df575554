// MPI's one-sided communication as the standard defines it: results, synchronisation, errors, and
// the properties of a window. Written for the RMA engine; hosts may detect other errors. With
// --allocated, MPI allocates the windows whose kind of memory does not matter.
#include <mpi.h>
#include <sys/mman.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <vector>

#include "rma_words.h"

void add_data_cases(std::vector<check::Case>& cases);    // rma_data.cpp
void add_window_cases(std::vector<check::Case>& cases);  // rma_windows.cpp

namespace {

void counters_by_fetching_operations() {
  Words words(4);
  constexpr int times = 50;
  const int64_t one = 1;
  MPI_Win_lock_all(0, words.win);
  for (int i = 0; i < times; ++i) {
    int64_t old = -1, seen = -1, swapped = -2;
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, words.win);
    MPI_Win_flush(0, words.win);
    EXPECT(old >= i && old < times * ranks);
    // Adds one by compare-and-swap.
    MPI_Get_accumulate(nullptr, 0, MPI_INT64_T, &seen, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T,
                       MPI_NO_OP, words.win);
    MPI_Win_flush(0, words.win);
    for (;;) {
      const int64_t wanted = seen + 1;
      MPI_Compare_and_swap(&wanted, &seen, &swapped, MPI_INT64_T, 0, 1, words.win);
      MPI_Win_flush(0, words.win);
      if (swapped == seen) break;
      seen = swapped;
    }
  }
  MPI_Win_unlock_all(words.win);
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, words.win);
  for (int i = 0; rank == 0 && i < 2; ++i)
    EXPECT_EQ(words.memory[static_cast<size_t>(i)], times * ranks);
  MPI_Win_unlock(rank, words.win);
}

void exclusive_locks_exclude() {
  Words words(2);
  for (int i = 0; i < 30; ++i) {
    int64_t both[2] = {-1, -2};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
    MPI_Get(both, 2, MPI_INT64_T, 0, 0, 2, MPI_INT64_T, words.win);
    MPI_Win_flush(0, words.win);
    EXPECT_EQ(both[0], both[1]);
    both[0]++, both[1]++;
    MPI_Put(&both[0], 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, words.win);
    MPI_Put(&both[1], 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, words.win);
    MPI_Win_unlock(0, words.win);
  }
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, words.win);
  if (rank == 0) EXPECT_EQ(words.memory[0], 30 * ranks);
  MPI_Win_unlock(rank, words.win);
}

// Both ranks lock in the same order, as programs do that hold several locks, so neither may have
// the second one while it waits for the first: of another target, or of another window. With
// MPI_THREAD_SERIALIZED another thread asks for the second, but calls are in one order.
void locks_are_taken_in_the_order_of_their_calls() {
  if (ranks < 3) return;
  int level = 0;
  MPI_Query_thread(&level);
  Words one(1), another(1);
  for (const int type : {MPI_LOCK_SHARED, MPI_LOCK_EXCLUSIVE}) {
    for (Words* second : {&one, &another}) {
      const int64_t word = 1;
      const auto put = [&](const Words& words, int target) {
        MPI_Put(&word, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, words.win);
      };
      if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, one.win);
        put(one, 0);
        MPI_Win_flush(0, one.win);
        MPI_Send(nullptr, 0, MPI_INT, 2, 0, check::world);
        usleep(50000);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win);
        MPI_Win_unlock(1, second->win);
        MPI_Win_unlock(0, one.win);
      } else if (rank == 2) {
        MPI_Recv(nullptr, 0, MPI_INT, 1, 0, check::world, MPI_STATUS_IGNORE);
        MPI_Win_lock(type, 0, 0, one.win);
        const auto use_second = [&] {
          MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, second->win);
          put(*second, 1);
        };
        level >= MPI_THREAD_SERIALIZED ? std::thread(use_second).join() : use_second();
        put(one, 0);
        MPI_Win_unlock(0, one.win);
        MPI_Win_unlock(1, second->win);
      }
      MPI_Barrier(check::world);
    }
  }
  for (const Words* words : {&one, &another}) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, words->win);
    EXPECT_EQ(words->memory[0], rank == 1 || (rank == 0 && words == &one) ? 1 : 0);
    MPI_Win_unlock(rank, words->win);
  }
}

void post_start_complete_wait() {
  Words words(2);
  MPI_Group all, to, from;
  MPI_Comm_group(check::world, &all);
  const int after = next_rank(), before = (rank + ranks - 1) % ranks;
  MPI_Group_incl(all, 1, &after, &to);
  MPI_Group_incl(all, 1, &before, &from);
  for (int64_t round = 0; round < 20; ++round) {
    const int64_t value = round * 100 + rank;
    int64_t got = -1;
    MPI_Win_post(from, 0, words.win);
    MPI_Win_start(to, 0, words.win);
    MPI_Put(&value, 1, MPI_INT64_T, after, 0, 1, MPI_INT64_T, words.win);
    MPI_Get(&got, 1, MPI_INT64_T, after, 1, 1, MPI_INT64_T, words.win);
    MPI_Win_complete(words.win);
    if (round % 2 == 0) {
      MPI_Win_wait(words.win);
    } else {
      for (int done = 0; !done;) MPI_Win_test(words.win, &done);
    }
    EXPECT_EQ(got, round);
    EXPECT_EQ(words.memory[0], round * 100 + before);
    words.memory[1] = round + 1;
  }
  for (MPI_Group* group : {&all, &to, &from}) MPI_Group_free(group);
}

void requests() {
  Words words(1000);
  std::vector<int64_t> data(500, rank + 1), back(500), old(1);
  const int64_t one = 1;
  MPI_Request request[4];
  MPI_Win_lock_all(0, words.win);
  MPI_Rput(data.data(), 500, MPI_INT64_T, next_rank(), 0, 500, MPI_INT64_T, words.win, &request[0]);
  MPI_Raccumulate(&one, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, MPI_SUM, words.win,
                  &request[1]);
  MPI_Rget_accumulate(&one, 1, MPI_INT64_T, old.data(), 1, MPI_INT64_T, next_rank(), 1, 1,
                      MPI_INT64_T, MPI_SUM, words.win, &request[2]);
  MPI_Wait(&request[2], MPI_STATUS_IGNORE);
  EXPECT_EQ(old[0], rank + 1);
  MPI_Rget(back.data(), 500, MPI_INT64_T, next_rank(), 0, 500, MPI_INT64_T, words.win, &request[3]);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
  EXPECT_EQ(back[0], rank + 2);
  EXPECT_EQ(back[1], rank + 2);
  EXPECT_EQ(back[499], rank + 1);
  MPI_Win_unlock_all(words.win);
}

// A fetch that waits for a lock whose owner waits for what this rank does next: in each of the
// calls that check requests.
void requests_are_under_way() {
  constexpr int ways = 9;
  Words words(ways);
  for (int i = 0; i < ways; ++i) words.memory[static_cast<size_t>(i)] = 100 * rank + i;
  for (int way = 0; way < ways; ++way) {
    MPI_Barrier(check::world);
    int64_t word = -1, note = -1;
    if (rank == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
      MPI_Barrier(check::world);
      MPI_Recv(&note, 1, MPI_INT64_T, 1, way, check::world, MPI_STATUS_IGNORE);
      MPI_Win_unlock(0, words.win);
      MPI_Send(&note, 1, MPI_INT64_T, 1, way, check::world);
      continue;
    }
    MPI_Barrier(check::world);
    if (rank != 1) continue;
    MPI_Request both[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request &fetch = both[0], &receive = both[1];
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    MPI_Rget(&word, 1, MPI_INT64_T, 0, way, 1, MPI_INT64_T, words.win, &fetch);
    int done = 1, which = -1, places[3] = {-1, -1, -1};
    MPI_Test(&fetch, &done, MPI_STATUS_IGNORE);
    EXPECT(!done);
    MPI_Irecv(&note, 1, MPI_INT64_T, 0, way, check::world, &receive);
    MPI_Send(&note, 1, MPI_INT64_T, 0, way, check::world);
    switch (way) {
      case 0:
        MPI_Wait(&fetch, MPI_STATUS_IGNORE);
        break;
      case 1:
        for (done = 0; !done;) MPI_Test(&fetch, &done, MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Waitall(3, both, MPI_STATUSES_IGNORE);
        break;
      case 3:
        for (done = 0; !done;) MPI_Testall(3, both, &done, MPI_STATUSES_IGNORE);
        break;
      case 4:
        for (int i = 0; i < 2; ++i) MPI_Waitany(3, both, &which, MPI_STATUS_IGNORE);
        break;
      case 5:
        for (int left = 2; left > 0; left -= done)
          MPI_Testany(3, both, &which, &done, MPI_STATUS_IGNORE);
        break;
      case 6:
        for (int left = 2; left > 0; left -= done)
          MPI_Waitsome(3, both, &done, places, MPI_STATUSES_IGNORE);
        break;
      case 7:
        for (int left = 2; left > 0; left -= done)
          MPI_Testsome(3, both, &done, places, MPI_STATUSES_IGNORE);
        break;
      default:
        for (done = 0; !done;) MPI_Request_get_status(fetch, &done, MPI_STATUS_IGNORE);
        EXPECT_EQ(word, way);
    }
    if (way < 8) EXPECT_EQ(word, way);
    if (way >= 2 && way < 8) EXPECT(receive == MPI_REQUEST_NULL);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(0, words.win);
  }
}

// Waited for in another order, by the end of their epoch, or not at all.
void many_fetches() {
  constexpr int count = 1000;
  Words words(count);
  for (int i = 0; i < count; ++i) words.memory[static_cast<size_t>(i)] = 1000 * rank + i;
  MPI_Barrier(check::world);
  std::vector<int64_t> got(count, -1), added(count, -1);
  std::vector<MPI_Request> request(2 * count);
  const int64_t nothing = 0;
  MPI_Win_lock_all(0, words.win);
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    MPI_Rget(&got[at], 1, MPI_INT64_T, (rank + i) % ranks, i, 1, MPI_INT64_T, words.win,
             &request[at]);
    MPI_Rget_accumulate(&nothing, 1, MPI_INT64_T, &added[at], 1, MPI_INT64_T, next_rank(), i, 1,
                        MPI_INT64_T, MPI_SUM, words.win, &request[count + at]);
  }
  for (size_t i = count; i > count / 2; --i) MPI_Wait(&request[i - 1], MPI_STATUS_IGNORE);
  for (int i = 0; i < count / 4; ++i) MPI_Request_free(&request[static_cast<size_t>(i)]);
  MPI_Win_unlock_all(words.win);
  MPI_Waitall(2 * count, request.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(got[static_cast<size_t>(i)], 1000 * ((rank + i) % ranks) + i);
    EXPECT_EQ(added[static_cast<size_t>(i)], 1000 * next_rank() + i);
  }
  int64_t none = 0;
  int code, kind = MPI_SUCCESS;
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
  code =
      MPI_Rget(&none, 1, MPI_INT64_T, next_rank(), count, 1, MPI_INT64_T, words.win, &request[0]);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
  EXPECT_EQ(kind, MPI_ERR_RMA_RANGE);
  MPI_Win_unlock(next_rank(), words.win);
}

// Operations on memory that its rank has unmapped are errors of their origins; the rank continues.
void memory_that_its_rank_has_taken_away() {
  constexpr int page = 4096, words = page / 8;
  for (const bool dynamic : {false, true}) {
    auto* const memory = static_cast<int64_t*>(
        mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    MPI_Win win;
    if (dynamic) {
      MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
      MPI_Win_attach(win, memory, 3 * page);
    } else {
      MPI_Win_create(memory, 3 * page, 1, MPI_INFO_NULL, check::world, &win);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Aint base = 0;
    if (dynamic) MPI_Get_address(memory, &base);
    MPI_Sendrecv_replace(&base, 1, MPI_AINT, (rank + ranks - 1) % ranks, 0, next_rank(), 0,
                         check::world, MPI_STATUS_IGNORE);
    munmap(memory + words, page);
    mprotect(memory + 2 * words, page, PROT_READ);
    MPI_Barrier(check::world);
    const MPI_Aint unmapped = base + page, protects = base + 2 * page;
    const int64_t one = 1;
    int64_t got = -1;
    const auto put = [&](MPI_Aint at) {
      return MPI_Put(&one, 1, MPI_INT64_T, next_rank(), at, 1, MPI_INT64_T, win);
    };
    const auto get = [&](MPI_Aint at) {
      return MPI_Get(&got, 1, MPI_INT64_T, next_rank(), at, 1, MPI_INT64_T, win);
    };
    const auto add = [&](MPI_Aint at) {
      return MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank(), at, 1, MPI_INT64_T, MPI_SUM, win);
    };
    const auto fetch = [&](MPI_Aint at) {
      return MPI_Fetch_and_op(&one, &got, MPI_INT64_T, next_rank(), at, MPI_SUM, win);
    };
    MPI_Win_lock_all(0, win);
    // The call itself may also return the error.
    const auto fails = [&](int code) {
      if (code == MPI_SUCCESS) code = MPI_Win_flush(next_rank(), win);
      EXPECT_EQ(class_of(code), MPI_ERR_RMA_RANGE);
      put(base);
      get(base + 8);
      EXPECT_EQ(MPI_Win_flush(next_rank(), win), MPI_SUCCESS);
    };
    for (int round = 0; round < 3; ++round) {
      fails(put(unmapped));
      fails(get(unmapped));
      fails(add(unmapped));
      fails(fetch(unmapped));
      fails(put(protects));
      fails(add(protects));
      for (int i = 0; i < 100; ++i) put(base + i % 2 * page);
      fails(MPI_SUCCESS);
    }
    add(base);
    MPI_Win_unlock_all(win);
    MPI_Barrier(check::world);
    EXPECT_EQ(memory[0], 2);
    EXPECT_EQ(memory[2 * words], 0);
    if (dynamic) MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
    munmap(memory, page);
    munmap(memory + 2 * words, page);
  }
}

// A request outlives its window.
void waited_for_after_its_window() {
  constexpr int count = 100;
  std::vector<int64_t> got(count, -1);
  std::vector<MPI_Request> request(count);
  {
    Words words(count);
    for (int i = 0; i < count; ++i) words.memory[static_cast<size_t>(i)] = 1000 * rank + i;
    MPI_Barrier(check::world);
    MPI_Win_lock_all(0, words.win);
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      MPI_Rget(&got[at], 1, MPI_INT64_T, next_rank(), i, 1, MPI_INT64_T, words.win, &request[at]);
    }
    MPI_Win_unlock_all(words.win);
  }
  Words another(count);
  MPI_Waitall(count, request.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], 1000 * next_rank() + i);
}

// Never waited for: the epoch's end completes the fetches, and the window's end frees the requests.
void freed_before_their_window_is() {
  constexpr int count = 100;
  for (int round = 0; round < 3; ++round) {
    std::vector<int64_t> got(count, -1);
    Words words(count);
    for (int i = 0; i < count; ++i) words.memory[static_cast<size_t>(i)] = 1000 * rank + i;
    MPI_Barrier(check::world);
    MPI_Win_lock_all(0, words.win);
    for (int i = 0; i < count; ++i) {
      MPI_Request request;
      MPI_Rget(&got[static_cast<size_t>(i)], 1, MPI_INT64_T, next_rank(), i, 1, MPI_INT64_T,
               words.win, &request);
      EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
      EXPECT(request == MPI_REQUEST_NULL);
    }
    MPI_Win_unlock_all(words.win);
    for (int i = 0; i < count; ++i) EXPECT_EQ(got[static_cast<size_t>(i)], 1000 * next_rank() + i);
  }
}

void dynamic_memory() {
  std::vector<int64_t> memory(100, rank);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, check::world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_attach(win, memory.data(), 800);
  MPI_Aint mine;
  MPI_Get_address(memory.data(), &mine);
  std::vector<MPI_Aint> all(static_cast<size_t>(ranks));
  MPI_Allgather(&mine, 1, MPI_AINT, all.data(), 1, MPI_AINT, check::world);
  int64_t got[2] = {-1, -1};
  MPI_Win_lock_all(0, win);
  MPI_Get(got, 2, MPI_INT64_T, next_rank(), all[static_cast<size_t>(next_rank())] + 80, 2,
          MPI_INT64_T, win);
  MPI_Win_flush_all(win);
  MPI_Win_unlock_all(win);
  EXPECT_EQ(got[1], next_rank());
  MPI_Barrier(check::world);
  MPI_Win_detach(win, memory.data());
  MPI_Win_free(&win);
}

void windows_of_some_ranks_in_another_order() {
  MPI_Comm reversed, half;
  MPI_Comm_split(check::world, 0, ranks - rank, &reversed);
  MPI_Comm_split(check::world, rank % 2, rank, &half);
  for (const MPI_Comm comm : {reversed, half}) {
    int me, all;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &all);
    Words words(4, comm);
    const int64_t value = me + 10;
    MPI_Win_fence(0, words.win);
    MPI_Put(&value, 1, MPI_INT64_T, (me + 1) % all, 0, 1, MPI_INT64_T, words.win);
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(words.memory[0], (me + all - 1) % all + 10);
    MPI_Group group;
    int size = 0, same = 0;
    MPI_Group mine;
    MPI_Win_get_group(words.win, &group);
    MPI_Comm_group(comm, &mine);
    MPI_Group_size(group, &size);
    MPI_Group_compare(group, mine, &same);
    EXPECT_EQ(size, all);
    EXPECT(same == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&mine);
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
}

void attributes_and_memory_of_an_allocated_window() {
  int64_t* base = nullptr;
  MPI_Win win;
  MPI_Win_allocate(160, 4, MPI_INFO_NULL, check::world, &base, &win);
  void* value = nullptr;
  int flag = 0;
  MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
  EXPECT(flag && value == base && base != nullptr);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
  EXPECT_EQ(*static_cast<MPI_Aint*>(value), 160);
  MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
  EXPECT_EQ(*static_cast<int*>(value), 4);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
  EXPECT_EQ(*static_cast<int*>(value), MPI_WIN_FLAVOR_ALLOCATE);
  MPI_Aint size = -1;
  int unit = -1;
  MPI_Win_shared_query(win, rank, &size, &unit, &value);
  EXPECT(size == 160 && unit == 4 && value == base);
  if (check::cached()) {
    MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &value);
    EXPECT(rank == 0 ? size == 160 && value == base : size == 0);
  }
  MPI_Win_set_name(win, "a window");
  char name[MPI_MAX_OBJECT_NAME] = {};
  int length = 0;
  MPI_Win_get_name(win, name, &length);
  EXPECT(std::string(name) == "a window");
  MPI_Win_lock_all(0, win);
  const int64_t mine = rank;
  MPI_Put(&mine, 1, MPI_INT64_T, next_rank(), 6, 1, MPI_INT64_T, win);
  MPI_Win_unlock_all(win);
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT_EQ(base[3], (rank + ranks - 1) % ranks);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
  EXPECT(win == MPI_WIN_NULL);
}

void nobody_and_nothing() {
  Words words(4);
  int64_t value = 5;
  MPI_Request request;
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
  EXPECT_EQ(MPI_Put(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Get(&value, 0, MPI_INT64_T, next_rank(), 0, 0, MPI_INT64_T, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Rget(&value, 1, MPI_INT64_T, MPI_PROC_NULL, 0, 1, MPI_INT64_T, words.win, &request),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Win_unlock(next_rank(), words.win);
  EXPECT_EQ(value, 5);
}

// An access beyond a window is reported at the next synchronisation at the latest; nothing else
// changes.
void errors_of_range_and_epochs() {
  Words words(4);
  int64_t value = 5;
  EXPECT_EQ(class_of(MPI_Put(&value, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words.win)),
            MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_unlock(next_rank(), words.win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_flush(next_rank(), words.win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_complete(words.win)), MPI_ERR_RMA_SYNC);
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
  EXPECT_EQ(class_of(MPI_Put(&value, 1, MPI_INT64_T, ranks, 0, 1, MPI_INT64_T, words.win)),
            MPI_ERR_RANK);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  int64_t other = 6, result;
  EXPECT_EQ(
      class_of(MPI_Compare_and_swap(&value, &other, &result, pair, next_rank(), 0, words.win)),
      MPI_ERR_TYPE);
  EXPECT_EQ(
      class_of(MPI_Fetch_and_op(&value, &result, pair, next_rank(), 0, MPI_REPLACE, words.win)),
      MPI_ERR_TYPE);
  MPI_Type_free(&pair);
  if (!check::cached())
    return check::skip("no MPI need say so"), void(MPI_Win_unlock(next_rank(), words.win));
  const int issued = MPI_Put(&value, 1, MPI_INT64_T, next_rank(), 4, 1, MPI_INT64_T, words.win);
  const int flushed = MPI_Win_flush(next_rank(), words.win);
  EXPECT_EQ(class_of(issued != MPI_SUCCESS ? issued : flushed), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(MPI_Win_flush(next_rank(), words.win), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_unlock(next_rank(), words.win), MPI_SUCCESS);
}

// One epoch of each kind, on word `at` and the two behind it; `round` is the number of earlier
// calls.
void repeat(const Words& words, int at, int64_t round) {
  const int to = next_rank();
  const int64_t one = 1, next = round + 1, many[3] = {7, 7, round};
  int64_t before = -1, swapped = -1, got[3] = {-1, -1, -1};
  const int type = round % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
  EXPECT_EQ(MPI_Win_lock(type, to, 0, words.win), MPI_SUCCESS);
  EXPECT_EQ(MPI_Put(&next, 1, MPI_INT64_T, to, at, 1, MPI_INT64_T, words.win), MPI_SUCCESS);
  EXPECT_EQ(MPI_Fetch_and_op(&one, &before, MPI_INT64_T, to, at + 1, MPI_SUM, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Compare_and_swap(&next, &round, &swapped, MPI_INT64_T, to, at + 2, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_flush(to, words.win), MPI_SUCCESS);
  EXPECT_EQ(before, std::min<int64_t>(2 * round, 7));
  EXPECT_EQ(swapped, round);
  EXPECT_EQ(MPI_Accumulate(&one, 1, MPI_INT64_T, to, at + 1, 1, MPI_INT64_T, MPI_SUM, words.win),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Accumulate(many, 3, MPI_INT64_T, to, at, 3, MPI_INT64_T, MPI_MIN, words.win),
            MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) MPI_Get(&got[i], 8, MPI_BYTE, to, at + i, 8, MPI_BYTE, words.win);
  EXPECT_EQ(MPI_Win_flush(to, words.win), MPI_SUCCESS);
  EXPECT_EQ(got[0], std::min<int64_t>(next, 7));
  EXPECT_EQ(got[1], std::min<int64_t>(2 * next, 7));
  EXPECT_EQ(got[2], round);
  MPI_Get(got, 24, MPI_BYTE, to, at, 24, MPI_BYTE, words.win);
  MPI_Fetch_and_op(&next, &before, MPI_INT64_T, to, at + 2, MPI_REPLACE, words.win);
  MPI_Fetch_and_op(nullptr, &swapped, MPI_INT64_T, to, at + 2, MPI_NO_OP, words.win);
  EXPECT_EQ(MPI_Win_unlock(to, words.win), MPI_SUCCESS);
  EXPECT_EQ(got[2], round);
  EXPECT_EQ(before, round);
  EXPECT_EQ(swapped, next);
}

// Errors that the engine detects at once, also in a window that was used before.
void errors_of_one_epoch(MPI_Win win) {
  int64_t value = 5;
  const int to = next_rank();
  const auto put = [&](int rank, MPI_Aint at) {
    return class_of(MPI_Put(&value, 1, MPI_INT64_T, rank, at, 1, MPI_INT64_T, win));
  };
  EXPECT_EQ(put(to, 0), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_unlock(to, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_unlock_all(win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_lock(-7, to, 0, win)), MPI_ERR_LOCKTYPE);
  EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, ranks, 0, win)), MPI_ERR_RANK);
  EXPECT_EQ(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, to, 0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(class_of(MPI_Win_lock_all(0, win)), MPI_ERR_RMA_SYNC);
  EXPECT_EQ(put(ranks, 0), MPI_ERR_RANK);
  EXPECT_EQ(put(-7, 0), MPI_ERR_RANK);
  EXPECT_EQ(put(INT_MIN, 0), MPI_ERR_RANK);
  EXPECT_EQ(put(MPI_PROC_NULL, 0), MPI_SUCCESS);
  EXPECT_EQ(put(to, -1), MPI_ERR_DISP);
  EXPECT_EQ(class_of(MPI_Put(&value, -1, MPI_INT64_T, to, 0, -1, MPI_INT64_T, win)), MPI_ERR_COUNT);
  EXPECT_EQ(MPI_Win_unlock(to, win), MPI_SUCCESS);
  EXPECT_EQ(put(to, 0), MPI_ERR_RMA_SYNC);
}

// Calls like the previous ones take a fast path, with the same results, checks and counters,
// whichever window they use.
void calls_that_are_repeated() {
  Words first(16);
  {
    Words second(16);
    for (int round = 0; round < 10; ++round) {
      const auto before = check::stats(first.win);
      repeat(first, 0, round);
      repeat(first, 3, round);
      const auto after = check::stats(first.win);
      if (check::cached()) {
        EXPECT_EQ(after.puts - before.puts, 2u);
        EXPECT_EQ(after.accumulates - before.accumulates, 12u);
      }
      if (round % 2 != 0) repeat(second, 0, round / 2);
      if (!check::cached()) continue;
      errors_of_one_epoch(first.win);
      errors_of_one_epoch(second.win);
    }
    MPI_Barrier(check::world);
  }
  repeat(first, 0, 10);
  MPI_Barrier(check::world);
  EXPECT_EQ(first.memory[0], 7);
  EXPECT_EQ(first.memory[2], 11);
}

// The fast path bypasses the cache only while nothing is cached.
void a_cache_that_is_switched_on_is_used() {
  Words words(8);
  if (!check::cached()) return check::skip("there is no cache");
  const auto set_mode = [&](const char* mode) {
    MPI_Info info = check::info("nearcache_mode", mode);
    MPI_Info_set(info, "nearcache_skip_cheap", "0");
    MPI_Win_set_info(words.win, info);
    MPI_Info_free(&info);
  };
  int64_t got = -1;
  const auto get = [&] {
    MPI_Get(&got, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words.win);
    MPI_Win_flush(next_rank(), words.win);
  };
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, words.win);
  for (int round = 0; round < 3; ++round) {
    set_mode("off");
    for (int i = 0; i < 100; ++i) get();
    const auto before = check::stats(words.win);
    set_mode("always");
    for (int i = 0; i < 100; ++i) get();
    EXPECT(check::stats(words.win).hits_full > before.hits_full);
    EXPECT_EQ(got, round);
    MPI_Barrier(check::world);
    const int64_t next = round + 1;
    MPI_Put(&next, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, words.win);
    MPI_Win_flush(next_rank(), words.win);
    get();
    EXPECT_EQ(got, next);
  }
  MPI_Win_unlock(next_rank(), words.win);
}

// Also where the host completes such gets too early (host_defects.def).
void gets_of_derived_types_with_requests_are_cached() {
  Words words(8);
  if (!check::cached()) return check::skip("there is no cache");
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_skip_cheap", "0");
  MPI_Win_set_info(words.win, info);
  MPI_Info_free(&info);
  const int64_t value = 7;
  MPI_Win_lock_all(0, words.win);
  MPI_Put(&value, 1, MPI_INT64_T, next_rank(), 4, 1, MPI_INT64_T, words.win);
  MPI_Win_flush(next_rank(), words.win);
  MPI_Datatype pair;
  MPI_Type_vector(2, 1, 4, MPI_INT64_T, &pair);
  MPI_Type_commit(&pair);
  const auto before = check::stats(words.win);
  for (int i = 0; i < 10; ++i) {
    int64_t got[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    MPI_Request request;
    MPI_Rget(got, 1, pair, next_rank(), 0, 1, pair, words.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(got[0] == 0 && got[1] == -1 && got[4] == value && got[5] == -1);
  }
  EXPECT(check::stats(words.win).hits_full > before.hits_full);
  MPI_Type_free(&pair);
  MPI_Win_unlock_all(words.win);
}

// The target makes no MPI call until it has seen what the others did.
void a_target_that_computes_is_served() {
  Words words(2);
  volatile int64_t* count = words.memory.data();
  if (rank == 0) {
    MPI_Barrier(check::world);
    for (int waits = 0; *count < 10 * (ranks - 1) && waits < 400000; ++waits) usleep(50);
    EXPECT_EQ(*count, 10 * (ranks - 1));
  } else {
    MPI_Barrier(check::world);
    const int64_t one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, words.win);
    for (int i = 0; i < 10; ++i) {
      int64_t old;
      MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 0, 0, MPI_SUM, words.win);
      MPI_Win_flush(0, words.win);
    }
    MPI_Win_unlock(0, words.win);
  }
}

// A rank issues an operation to another and then polls its own memory, without a flush, until the
// other has done the same. Whatever call it polls with must send the operation.
template <class Look>
void others_see_what_was_asked(const char* how, int word, const Words& words, Look look) {
  const int64_t one = 1;
  volatile int64_t* const answer = &words.memory[static_cast<size_t>(word)];
  MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank(), word, 1, MPI_INT64_T, MPI_REPLACE, words.win);
  for (int looks = 0; *answer == 0 && looks < 100000; ++looks) {
    look();
    usleep(50);
  }
  if (*answer == 0) std::printf("nothing came, with %s\n", how);
  EXPECT_EQ(*answer, 1);
  MPI_Barrier(check::world);
}

void who_looks_at_its_own_memory_is_answered() {
  Words words(8), others(1);
  const MPI_Win win = words.win;
  const auto see = [&](const char* how, int word, auto look) {
    others_see_what_was_asked(how, word, words, look);
  };
  MPI_Win_lock_all(0, win);
  see("MPI_Win_sync", 0, [&] { MPI_Win_sync(win); });
  see("MPI_Win_flush", 1, [&] { MPI_Win_flush(rank, win); });
  see("MPI_Win_flush_local", 2, [&] { MPI_Win_flush_local(rank, win); });
  see("MPI_Win_lock of another window", 3, [&] {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, others.win);
    MPI_Win_unlock(rank, others.win);
  });
  see("MPI_Win_lock_all of another window", 4, [&] {
    MPI_Win_lock_all(0, others.win);
    MPI_Win_unlock_all(others.win);
  });
  int flag = 0;
  see("MPI_Iprobe", 5,
      [&] { MPI_Iprobe(MPI_ANY_SOURCE, 99, check::world, &flag, MPI_STATUS_IGNORE); });
  MPI_Request request;
  MPI_Irecv(&flag, 1, MPI_INT, rank, 98, check::world, &request);
  see("MPI_Test", 6, [&] {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  });
  MPI_Send(&flag, 1, MPI_INT, rank, 98, check::world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
}

// One rank waits in the host for a reply to an operation that it has not flushed.
void who_waits_for_a_message_has_sent_what_it_asked() {
  Words words(1);
  if (rank == 0) {
    const int64_t one = 1;
    int answer = 0;
    MPI_Win_lock_all(0, words.win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_REPLACE, words.win);
    MPI_Recv(&answer, 1, MPI_INT, 1, 0, check::world, MPI_STATUS_IGNORE);
    EXPECT_EQ(answer, 1);
    MPI_Win_unlock_all(words.win);
  } else if (rank == 1) {
    volatile int64_t* const asked = words.memory.data();
    for (int looks = 0; *asked == 0 && looks < 100000; ++looks) usleep(50);
    const auto answer = static_cast<int>(*asked);
    MPI_Send(&answer, 1, MPI_INT, 0, 0, check::world);
  }
}

// A message too large to be sent before its receiver takes part. The receiver waits in a fence that
// the sender enters only after the send.
void a_rank_that_waits_lets_messages_move_on() {
  Words words(2);
  std::vector<char> message(8 << 20, static_cast<char>(rank + 1));
  MPI_Request request;
  if (rank == 0) MPI_Irecv(message.data(), 8 << 20, MPI_CHAR, 1, 0, check::world, &request);
  if (rank == 1) MPI_Send(message.data(), 8 << 20, MPI_CHAR, 0, 0, check::world);
  MPI_Win_fence(0, words.win);
  if (rank == 0) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(message[5000000], 2);
  }
  MPI_Win_fence(0, words.win);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<check::Case> cases;
  add_data_cases(cases);
  cases.insert(
      cases.end(),
      {{"counters_by_fetching_operations", counters_by_fetching_operations},
       {"exclusive_locks_exclude", exclusive_locks_exclude},
       {"locks_are_taken_in_the_order_of_their_calls", locks_are_taken_in_the_order_of_their_calls},
       {"post_start_complete_wait", post_start_complete_wait},
       {"requests", requests},
       {"requests_are_under_way", requests_are_under_way},
       {"many_fetches", many_fetches},
       {"waited_for_after_its_window", waited_for_after_its_window},
       {"freed_before_their_window_is", freed_before_their_window_is},
       {"dynamic_memory", dynamic_memory},
       {"memory_that_its_rank_has_taken_away", memory_that_its_rank_has_taken_away},
       {"windows_of_some_ranks_in_another_order", windows_of_some_ranks_in_another_order},
       {"attributes_and_memory_of_an_allocated_window",
        attributes_and_memory_of_an_allocated_window},
       {"nobody_and_nothing", nobody_and_nothing},
       {"errors_of_range_and_epochs", errors_of_range_and_epochs},
       {"calls_that_are_repeated", calls_that_are_repeated},
       {"a_cache_that_is_switched_on_is_used", a_cache_that_is_switched_on_is_used},
       {"gets_of_derived_types_with_requests_are_cached",
        gets_of_derived_types_with_requests_are_cached},
       {"a_target_that_computes_is_served", a_target_that_computes_is_served},
       {"who_looks_at_its_own_memory_is_answered", who_looks_at_its_own_memory_is_answered},
       {"who_waits_for_a_message_has_sent_what_it_asked",
        who_waits_for_a_message_has_sent_what_it_asked},
       {"a_rank_that_waits_lets_messages_move_on", a_rank_that_waits_lets_messages_move_on}});
  add_window_cases(cases);
  return check::run(argc, argv, 2, cases);
}
