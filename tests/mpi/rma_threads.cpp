// Threads of all ranks use one window of the RMA engine at the same time, and each also uses a
// window of its own.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "check.h"

namespace {

using check::rank;
using check::ranks;

constexpr int threads = 3, rounds = 100, own_words = 200, first_own = 64;

template <class Body>
void everybody(Body body) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(body, i);
  for (std::thread& each : all) each.join();
}

// In an open epoch of all targets: a shared counter, and words that only this thread writes.
void use_shared_window(MPI_Win win, int thread) {
  std::mt19937 random(static_cast<unsigned>(100 * rank + thread));
  const MPI_Aint place = first_own + (rank * threads + thread) * own_words;
  std::vector<int64_t> sent(own_words), got(own_words);
  for (int round = 0; round < rounds; ++round) {
    const int to = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const int64_t one = 1;
    int64_t old = -1;
    for (int64_t& word : sent) word = random();
    MPI_Request requests[2];
    switch (random() % 4) {
      case 0:
        MPI_Put(sent.data(), own_words, MPI_INT64_T, to, place, own_words, MPI_INT64_T, win);
        MPI_Win_flush(to, win);
        MPI_Get(got.data(), own_words, MPI_INT64_T, to, place, own_words, MPI_INT64_T, win);
        MPI_Win_flush(to, win);
        EXPECT(got == sent);
        break;
      case 1:
        MPI_Put(sent.data(), 2, MPI_INT64_T, to, place, 2, MPI_INT64_T, win);
        MPI_Win_flush_all(win);
        for (int i = 0; i < 2; ++i)
          MPI_Rget(&got[static_cast<size_t>(i)], 1, MPI_INT64_T, to, place + i, 1, MPI_INT64_T, win,
                   &requests[i]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT(got[0] == sent[0] && got[1] == sent[1]);
        break;
      case 2:
        MPI_Win_flush_local_all(win);
        MPI_Win_sync(win);
        break;
      default:
        break;
    }
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, round % ranks, 0, MPI_SUM, win);
    MPI_Win_flush(round % ranks, win);
    EXPECT(old >= 0);
  }
}

void of_one_window() {
  const int words = first_own + ranks * threads * own_words;
  std::vector<int64_t> memory(static_cast<size_t>(words));
  MPI_Win win;
  MPI_Win_create(memory.data(), words * 8, 8, MPI_INFO_NULL, check::world, &win);
  MPI_Win_lock_all(0, win);
  everybody([&](int thread) { use_shared_window(win, thread); });
  MPI_Win_unlock_all(win);
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  int64_t sum = 0;
  MPI_Allreduce(memory.data(), &sum, 1, MPI_INT64_T, MPI_SUM, check::world);
  EXPECT_EQ(sum, ranks * threads * rounds);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

// Locks of both kinds, fences, and epochs of post and start.
void use_own_window(MPI_Comm comm) {
  int64_t memory[4] = {};
  MPI_Win win;
  MPI_Group all;
  MPI_Win_create(memory, sizeof memory, 8, MPI_INFO_NULL, comm, &win);
  MPI_Comm_group(comm, &all);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  const int64_t one = 1;
  for (int64_t round = 0; round < rounds / 4; ++round) {
    int64_t counter = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&counter, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    ++counter;
    MPI_Put(&counter, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 1, 1, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    const int64_t mine = 10 * round + rank;
    MPI_Win_fence(0, win);
    MPI_Put(&mine, 1, MPI_INT64_T, next, 2, 1, MPI_INT64_T, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    EXPECT_EQ(memory[2], 10 * round + before);
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
    MPI_Put(&mine, 1, MPI_INT64_T, next, 3, 1, MPI_INT64_T, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    EXPECT_EQ(memory[3], 10 * round + before);
  }
  MPI_Group_free(&all);
  MPI_Win_free(&win);
  if (rank == 0) EXPECT(memory[0] == ranks * (rounds / 4) && memory[1] == memory[0]);
}

void of_windows_of_their_own() {
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(check::world, &comm);
  everybody([&](int thread) { use_own_window(comms[static_cast<size_t>(thread)]); });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// Each rank has its own lock and asks for that of the next, in another thread. A flush of all is no
// reason to wait for the answer.
void of_locks_that_others_hold() {
  const int next = (rank + 1) % ranks;
  int64_t* memory;
  MPI_Win win;
  MPI_Win_allocate(8, 8, MPI_INFO_NULL, check::world, &memory, &win);
  *memory = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  MPI_Barrier(check::world);
  std::thread asks([&] {
    const int64_t one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
    MPI_Put(&one, 1, MPI_INT64_T, next, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock(next, win);
  });
  usleep(20000);
  MPI_Win_flush_all(win);
  MPI_Win_unlock(rank, win);
  asks.join();
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT_EQ(*memory, 1);
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

// Rank 1 has its own lock until it gets a message of the second thread. The first one has asked for
// that lock before, and may have an operation under way under it. If not, the second flushes all.
void while_another_waits_for_a_lock(bool with_operation) {
  int64_t memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, check::world, &win);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
  MPI_Barrier(check::world);
  if (rank == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Win_unlock(1, win);
  } else if (rank == 0) {
    std::atomic<bool> sent{false};
    std::thread waits([&] {
      const int64_t one = 1;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
      if (with_operation) MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
      while (!sent) usleep(1000);
      if (!with_operation) MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
      MPI_Win_unlock(1, win);
    });
    usleep(20000);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (!with_operation) MPI_Win_flush_all(win);
    MPI_Win_unlock(0, win);
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, check::world);
    sent = true;
    waits.join();
  }
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  MPI_Win_unlock(rank, win);
  EXPECT_EQ(memory, rank);
  MPI_Win_free(&win);
}

// Rank 1 has the first lock and asks for the second, as a thread of rank 0 does. In between another
// thread of that rank has a lock of its own.
void in_the_order_of_each_threads_locks() {
  int64_t memory[3] = {};
  MPI_Win first, second, of_another;
  MPI_Win* const windows[] = {&first, &second, &of_another};
  for (int i = 0; i < 3; ++i)
    MPI_Win_create(&memory[i], 8, 8, MPI_INFO_NULL, check::world, windows[i]);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first);
  MPI_Barrier(check::world);
  if (rank == 1) {
    usleep(50000);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second);
    MPI_Win_unlock(1, second);
    MPI_Win_unlock(1, first);
  } else if (rank == 0) {
    const int64_t one = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, first);
    std::thread([&] {
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, of_another);
      MPI_Win_unlock(1, of_another);
    }).join();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, second);
    MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, second);
    MPI_Put(&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, first);
    MPI_Win_unlock(1, first);
    MPI_Win_unlock(1, second);
  }
  MPI_Barrier(check::world);
  for (MPI_Win* win : windows) {
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, *win);
    MPI_Win_unlock(rank, *win);
  }
  EXPECT(memory[0] == rank && memory[1] == rank);
  for (MPI_Win* win : windows) MPI_Win_free(win);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(
      argc, argv, 2,
      {{"of_one_window", of_one_window},
       {"of_windows_of_their_own", of_windows_of_their_own},
       {"of_locks_that_others_hold", of_locks_that_others_hold},
       {"a_thread_locks_while_another_waits", [] { while_another_waits_for_a_lock(true); }},
       {"a_thread_flushes_while_another_waits", [] { while_another_waits_for_a_lock(false); }},
       {"in_the_order_of_each_threads_locks", in_the_order_of_each_threads_locks}},
      MPI_THREAD_MULTIPLE);
}
