// Transfers large enough for a network to perform without the target, in epochs of every kind and
// among accumulates: no rank sees memory older than what an epoch has ordered. With `killed`: what
// happens to the others when a target dies.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "check.h"
#include "killed.h"

namespace {

using check::rank;
using check::ranks;

constexpr int count = 40000;

struct Words {
  int64_t* memory = nullptr;
  MPI_Win win;
  explicit Words(int size = count) {
    MPI_Win_allocate(size * MPI_Aint{8}, 8, MPI_INFO_NULL, check::world, &memory, &win);
    std::fill_n(memory, size, 0);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Barrier(check::world);
  }
  ~Words() { MPI_Win_free(&win); }

  void put(const std::vector<int64_t>& data, int to, MPI_Aint at = 0) const {
    const int size = static_cast<int>(data.size());
    MPI_Put(data.data(), size, MPI_INT64_T, to, at, size, MPI_INT64_T, win);
  }
  void get(std::vector<int64_t>* data, int from, MPI_Aint at = 0) const {
    const int size = static_cast<int>(data->size());
    MPI_Get(data->data(), size, MPI_INT64_T, from, at, size, MPI_INT64_T, win);
  }
};

int next_rank() { return (rank + 1) % ranks; }

bool all_are(const std::vector<int64_t>& words, int64_t value) {
  return std::ranges::all_of(words, [&](int64_t each) { return each == value; });
}

// All ranks write to each rank in turn, in parts of unequal size, and read all of it after the
// fence.
void fences_order() {
  Words words;
  const int part = count / ranks;
  std::vector<int64_t> got(static_cast<size_t>(part * ranks));
  for (int64_t round = 1; round <= 12; ++round) {
    const int target = static_cast<int>(round) % ranks;
    MPI_Win_fence(0, words.win);
    for (int time = 0; time < 3; ++time) {
      const int from = time * (part / 3), size = time == 2 ? part - from : part / 3;
      words.put(std::vector<int64_t>(static_cast<size_t>(size), round), target, rank * part + from);
    }
    MPI_Win_fence(0, words.win);
    for (int time = 0; time < 3; ++time) words.get(&got, target);
    MPI_Win_fence(0, words.win);
    EXPECT_EQ(all_are(got, round), true);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, words.win);
}

void post_and_complete_order() {
  Words words;
  MPI_Group all, to, from;
  MPI_Comm_group(check::world, &all);
  const int after = next_rank(), before = (rank + ranks - 1) % ranks;
  MPI_Group_incl(all, 1, &after, &to);
  MPI_Group_incl(all, 1, &before, &from);
  std::vector<int64_t> got(count / 2);
  for (int64_t round = 1; round <= 10; ++round) {
    std::fill_n(words.memory + count / 2, count / 2, round);
    MPI_Win_post(from, 0, words.win);
    MPI_Win_start(to, 0, words.win);
    words.put(std::vector<int64_t>(count / 2, round), after);
    words.get(&got, after, count / 2);
    MPI_Win_complete(words.win);
    MPI_Win_wait(words.win);
    EXPECT_EQ(all_are(got, round), true);
    EXPECT_EQ(words.memory[0], round);
    EXPECT_EQ(words.memory[count / 2 - 1], round);
  }
  for (MPI_Group* group : {&all, &to, &from}) MPI_Group_free(group);
}

void exclusive_locks_exclude() {
  Words words;
  std::vector<int64_t> got(count);
  for (int i = 0; i < 12; ++i) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, words.win);
    if (i % 2 == 0) {  // confirms that the lock is held
      words.get(&got, 0, 0);
      MPI_Win_flush(0, words.win);
    }
    words.get(&got, 0);
    MPI_Win_flush(0, words.win);
    EXPECT_EQ(all_are(got, got[0]), true);
    for (int64_t& each : got) ++each;
    words.put(got, 0);
    MPI_Win_unlock(0, words.win);
  }
  MPI_Barrier(check::world);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, words.win);
  if (rank == 0) EXPECT_EQ(words.memory[count - 1], 12 * ranks);
  MPI_Win_unlock(rank, words.win);
}

void requests_and_local_flushes_complete() {
  Words words;
  MPI_Win_lock_all(0, words.win);
  std::iota(words.memory, words.memory + count, rank * 100000);
  MPI_Win_sync(words.win);
  MPI_Barrier(check::world);
  std::vector<int64_t> first(10000), second(20000), third(1);
  for (int i = 0; i < 5; ++i) {
    MPI_Request requests[3];
    MPI_Rget(first.data(), 10000, MPI_INT64_T, next_rank(), i, 10000, MPI_INT64_T, words.win,
             &requests[0]);
    MPI_Rget(second.data(), 20000, MPI_INT64_T, next_rank(), 5 + i, 20000, MPI_INT64_T, words.win,
             &requests[1]);
    MPI_Rget(third.data(), 1, MPI_INT64_T, next_rank(), 7 + i, 1, MPI_INT64_T, words.win,
             &requests[2]);
    if (i % 2 == 0) {
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int k = 2; k >= 0; --k) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    }
    EXPECT_EQ(first[9999], next_rank() * 100000 + i + 9999);
    EXPECT_EQ(second[19999], next_rank() * 100000 + i + 5 + 19999);
    EXPECT_EQ(third[0], next_rank() * 100000 + i + 7);
    std::ranges::fill(first, -1);
    words.get(&first, next_rank(), 11);
    i % 2 == 0 ? MPI_Win_flush_local(next_rank(), words.win) : MPI_Win_flush_local_all(words.win);
    EXPECT_EQ(first[0], next_rank() * 100000 + 11);
    EXPECT_EQ(first[9999], next_rank() * 100000 + 11 + 9999);
  }
  MPI_Barrier(check::world);
  std::vector<int64_t> data(30000, rank);
  words.put(data, next_rank());
  MPI_Win_flush_local(next_rank(), words.win);
  std::ranges::fill(data, -1);  // the buffer may be reused
  MPI_Win_flush_all(words.win);
  MPI_Barrier(check::world);
  MPI_Win_sync(words.win);
  const int before = (rank + ranks - 1) % ranks;
  EXPECT_EQ(words.memory[0], before);
  EXPECT_EQ(words.memory[29999], before);
  MPI_Win_unlock_all(words.win);
}

// A few large blocks at both ends, and many small ones.
void blocks() {
  Words words;
  MPI_Win_lock_all(0, words.win);
  std::iota(words.memory, words.memory + count, 0);
  MPI_Win_sync(words.win);
  MPI_Barrier(check::world);
  for (const int length : {1000, 1}) {
    MPI_Datatype there, here;
    MPI_Type_vector(10, length, 2 * length, MPI_INT64_T, &there);
    MPI_Type_vector(10, length, 3 * length, MPI_INT64_T, &here);
    MPI_Type_commit(&there);
    MPI_Type_commit(&here);
    std::vector<int64_t> got(30000);
    for (int time = 0; time < 3; ++time) {
      std::ranges::fill(got, -1);
      MPI_Get(got.data(), 1, here, next_rank(), 5, 1, there, words.win);
      MPI_Win_flush(next_rank(), words.win);
      for (size_t i = 0; i < 10; ++i) {
        const auto block = static_cast<size_t>(length);
        EXPECT_EQ(got[3 * block * i], static_cast<int64_t>(2 * block * i + 5));
        EXPECT_EQ(got[3 * block * i + block - 1], static_cast<int64_t>(2 * block * i + block + 4));
        if (i < 9) EXPECT_EQ(got[3 * block * i + block], -1);
      }
    }
    MPI_Type_free(&there);
    MPI_Type_free(&here);
  }
  MPI_Win_unlock_all(words.win);
}

void beyond_the_window() {
  Words words;
  MPI_Win_lock_all(0, words.win);
  std::vector<int64_t> got(10000, -1);
  for (int time = 0; time < 3; ++time) {
    words.get(&got, next_rank(), count - 10000);
    EXPECT_EQ(MPI_Win_flush(next_rank(), words.win), MPI_SUCCESS);
    EXPECT_EQ(got[9999], 0);
    words.get(&got, next_rank(), count - 9999);
    int code = MPI_Win_flush(next_rank(), words.win), kind = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    EXPECT_EQ(kind, MPI_ERR_RMA_RANGE);
  }
  MPI_Win_unlock_all(words.win);
}

// All ranks add to the same words, and read them in large parts.
void accumulates_go_on_beside() {
  Words words;
  MPI_Win_lock_all(0, words.win);
  const std::vector<int64_t> ones(2000, 1);
  std::vector<int64_t> got(20000);
  int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    MPI_Accumulate(ones.data(), 2000, MPI_INT64_T, 0, 100, 2000, MPI_INT64_T, MPI_SUM, words.win);
    MPI_Win_flush(0, words.win);
    words.get(&got, 0);
    MPI_Win_flush(0, words.win);
    EXPECT_EQ(got[2099] > last, true);
    EXPECT_EQ(got[99], 0);
    last = got[2099];
  }
  MPI_Barrier(check::world);
  words.get(&got, 0);
  MPI_Win_flush(0, words.win);
  EXPECT_EQ(got[2099], 20 * ranks);
  MPI_Win_unlock_all(words.win);
}

// Rank 1 dies while rank 2 reads from it and writes to it.
void killed() {
  const pid_t computing = before_a_kill();
  constexpr int many = 1 << 20;
  Words words(many);
  if (rank == 2) {
    std::vector<int64_t> got(many), put(many / 2);
    MPI_Win_lock_all(0, words.win);
    int code = MPI_SUCCESS, kind = MPI_SUCCESS;
    for (int time = 0; code == MPI_SUCCESS; ++time) {
      if (time == 3) MPI_Send(&time, 1, MPI_INT, 1, 0, check::world);
      words.get(&got, 1);
      words.put(put, 1);
      code = MPI_Win_flush(1, words.win);
    }
    MPI_Error_class(code, &kind);
    EXPECT_EQ(kind, MPI_ERR_OTHER);
    words.get(&got, 0);  // no other rank is affected
    EXPECT_EQ(MPI_Win_flush(0, words.win), MPI_SUCCESS);
    end_after_a_kill(computing);
  }
  if (rank == 1) {
    int any;
    MPI_Recv(&any, 1, MPI_INT, 2, 0, check::world, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  sleep(60);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 2,
                    {{"fences_order", fences_order},
                     {"post_and_complete_order", post_and_complete_order},
                     {"exclusive_locks_exclude", exclusive_locks_exclude},
                     {"requests_and_local_flushes_complete", requests_and_local_flushes_complete},
                     {"blocks", blocks},
                     {"beyond_the_window", beyond_the_window},
                     {"accumulates_go_on_beside", accumulates_go_on_beside},
                     {"killed", killed}});
}
