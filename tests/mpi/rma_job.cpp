// What the RMA engine acquires and releases in a job: many windows, many ranks, a rank that dies.
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "check.h"
#include "killed.h"

namespace {

using check::rank;
using check::ranks;

int next_rank() { return (rank + 1) % ranks; }

// Uses all features of a window: memory of the host's or the program's own, operations in both
// kinds of synchronisation, and a datatype that is sent to targets.
void use_window(int which) {
  constexpr int count = 64;
  std::vector<int64_t> own(count);
  int64_t* memory = own.data();
  MPI_Win win;
  if (which % 2 == 0) {
    MPI_Win_allocate(count * 8, 8, MPI_INFO_NULL, check::world, &memory, &win);
    std::fill(memory, memory + count, 0);
  } else {
    MPI_Win_create(memory, count * 8, 8, MPI_INFO_NULL, check::world, &win);
  }
  MPI_Datatype strided;
  MPI_Type_vector(16, 1, 2, MPI_INT64_T, &strided);
  MPI_Type_commit(&strided);
  std::vector<int64_t> data(count, which + rank);
  MPI_Win_fence(0, win);
  MPI_Put(data.data(), 1, strided, next_rank(), 0, 1, strided, win);
  MPI_Win_fence(0, win);
  const int64_t before = which + (rank + ranks - 1) % ranks;
  EXPECT_EQ(memory[0], before);
  EXPECT_EQ(memory[1], 0);
  EXPECT_EQ(memory[30], before);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_rank(), 0, win);
  int64_t got = 0;
  MPI_Get(&got, 1, MPI_INT64_T, next_rank(), 2, 1, MPI_INT64_T, win);
  MPI_Win_unlock(next_rank(), win);
  EXPECT_EQ(got, which + rank);
  MPI_Type_free(&strided);
  MPI_Win_free(&win);
}

struct Used {
  long descriptors = 0, threads = 0, kilobytes = 0;
};

Used used() {
  Used now;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd"))
    ++now.descriptors;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
    ++now.threads;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word == "VmRSS:") file >> now.kilobytes;
  }
  return now;
}

// Argument: the number of windows.
void many_windows() {
  const int all = check::rest.empty() ? 1200 : std::stoi(check::rest[0]), warm = all / 6;
  Used before;
  for (int i = 0; i < all; ++i) {
    if (i == warm) before = used();
    use_window(i);
  }
  const Used after = used();
  EXPECT_EQ(after.descriptors, before.descriptors);
  EXPECT_EQ(after.threads, before.threads);
  check::expect(after.kilobytes - before.kilobytes < 512 + (all - warm) / 2, "%ld KiB more",
                after.kilobytes - before.kilobytes);
}

void of_many_ranks() {
  for (int i = 0; i < 3; ++i) use_window(i);
  int64_t sum = 0;
  MPI_Win win;
  MPI_Win_create(&sum, 8, 8, MPI_INFO_NULL, check::world, &win);
  MPI_Win_lock_all(0, win);
  const int64_t one = 1;
  for (const int target : {0, next_rank(), ranks / 2})
    MPI_Accumulate(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_unlock_all(win);
  check::hidden_barrier();
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  EXPECT_EQ(sum, 1 + (rank == 0 ? ranks : 0) + (rank == ranks / 2 ? ranks : 0));
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

// Limits the descriptors of rank 1 during the set-up of its first window. Argument: the limit.
// However far the set-up gets, all ranks must have the same kind of window, and finish.
void with_few_descriptors() {
  rlimit all;
  getrlimit(RLIMIT_NOFILE, &all);
  const int first = dup(0);
  close(first);
  rlimit few = all;
  few.rlim_cur = static_cast<rlim_t>(first + std::stoi(check::rest[0]));
  if (rank == 1) setrlimit(RLIMIT_NOFILE, &few);
  int64_t memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, check::world, &win);
  setrlimit(RLIMIT_NOFILE, &all);
  const int64_t one = 1;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&one, 1, MPI_INT64_T, next_rank(), 0, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_fence(0, win);
  EXPECT_EQ(memory, 1);
  MPI_Win_free(&win);
}

// Rank 1 dies while it holds a lock of rank 0's memory. The others continue as far as possible.
void killed_with_a_lock() {
  const pid_t computing = before_a_kill();
  int64_t memory = rank;
  MPI_Win win;
  MPI_Win_create(&memory, 8, 8, MPI_INFO_NULL, check::world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  int64_t got = -1;
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_flush(0, win);
    MPI_Send(&got, 1, MPI_INT64_T, 2, 0, check::world);
    MPI_Recv(&got, 1, MPI_INT64_T, 2, 0, check::world, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (rank == 2) {
    MPI_Recv(&got, 1, MPI_INT64_T, 1, 0, check::world, MPI_STATUS_IGNORE);
    MPI_Send(&got, 1, MPI_INT64_T, 1, 0, check::world);
    got = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);  // held by the dead rank at first
    MPI_Get(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    EXPECT_EQ(MPI_Win_unlock(0, win), MPI_SUCCESS);
    EXPECT_EQ(got, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    int code = MPI_Get(&got, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win), kind = MPI_SUCCESS;
    if (code == MPI_SUCCESS) code = MPI_Win_unlock(1, win);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
    EXPECT_EQ(kind, MPI_ERR_OTHER);
    // Replies of the other ranks are waited for as usual.
    MPI_Request request;
    got = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    EXPECT_EQ(MPI_Rget(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win, &request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(got, 0);
    EXPECT_EQ(MPI_Win_unlock(0, win), MPI_SUCCESS);
    end_after_a_kill(computing);
  }
  sleep(60);
  _Exit(1);
}

// Rank 1 dies while rank 0, which is stopped, has not answered a get of rank 2. The fence that ends
// with an error has given the buffer back.
void killed_in_a_fence() {
  const pid_t computing = before_a_kill();
  constexpr int many = 1 << 17;
  std::vector<int64_t> memory(many), got(many);
  MPI_Win win;
  MPI_Win_create(memory.data(), many * 8, 8, MPI_INFO_NULL, check::world, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, win);
  MPI_Barrier(check::world);
  if (rank == 1) {
    MPI_Recv(got.data(), 1, MPI_INT64_T, 2, 0, check::world, MPI_STATUS_IGNORE);
    raise(SIGKILL);
  }
  if (rank == 2) {
    kill(computing, SIGSTOP);
    MPI_Get(got.data(), many, MPI_INT64_T, 0, 0, many, MPI_INT64_T, win);
    MPI_Send(got.data(), 1, MPI_INT64_T, 1, 0, check::world);
    int code = MPI_Win_fence(MPI_MODE_NOSUCCEED, win), kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    EXPECT_EQ(kind, MPI_ERR_OTHER);
    std::ranges::fill(got, 7);
    kill(computing, SIGCONT);
    int64_t word = -1;  // comes after the answer to the other get
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Get(&word, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    EXPECT_EQ(MPI_Win_unlock(0, win), MPI_SUCCESS);
    EXPECT_EQ(word, 0);
    EXPECT_EQ(std::ranges::count(got, 7), many);
    end_after_a_kill(computing);
  }
  sleep(60);
  _Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 2,
                    {{"many_windows", many_windows},
                     {"of_many_ranks", of_many_ranks},
                     {"with_few_descriptors", with_few_descriptors},
                     {"killed_with_a_lock", killed_with_a_lock},
                     {"killed_in_a_fence", killed_in_a_fence}});
}
