// SPDX-License-Identifier: BSD-3-Clause

// Programs that coherence cannot help: they write all the time, or only send messages. In those
// that write, one rank also reads the same few words over and over, so that it has a reason to ask
// the others for notifications of writes.
#include <algorithm>

#include "clients/client.h"

namespace clients {
namespace {

// words of each rank's window; the last `table` of them are read but never written
constexpr std::int64_t all_words = 1 << 13;
constexpr std::int64_t table = 256;

class Memory {
 public:
  explicit Memory(const Job& job) : job_(job) {
    MPI_Win_allocate(all_words * 8, 8, MPI_INFO_NULL, job.comm, &words_, &window);
    for (std::int64_t i = 0; i < all_words; ++i)
      words_[i] = apps::mix64(static_cast<std::uint64_t>(job.rank * all_words + i));
  }
  ~Memory() { MPI_Win_free(&window); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::uint64_t& operator[](std::int64_t word) { return words_[word]; }
  std::uint64_t digest() const {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < all_words; ++i)
      sum += apps::mix64(words_[i] ^ static_cast<std::uint64_t>(i));
    return sum;
  }
  // Rank 0 reads words of rank 1. pre: within an epoch
  void look_up(Outcome& outcome) {
    if (job_.rank != 0) return;
    const int target = 1 % job_.ranks;
    for (std::int64_t i = 0; i < 16; ++i) {
      std::uint64_t word = 0;
      MPI_Get(&word, 1, MPI_UINT64_T, target, all_words - table + i * 16, 1, MPI_UINT64_T, window);
      MPI_Win_flush(target, window);
      outcome.checksum += word;
      ++outcome.gets;
    }
  }

  MPI_Win window;

 private:
  const Job& job_;
  std::uint64_t* words_ = nullptr;
};

template <class Write>
Outcome writes(const Job& job, Write write) {
  Outcome outcome;
  Memory memory(job);
  MPI_Win_lock_all(0, memory.window);
  synchronise(job, memory.window);
  run_rounds(job, outcome, [&](auto round) {
    memory.look_up(outcome);
    write(memory, round);
    synchronise(job, memory.window);
  });
  outcome.checksum += memory.digest();
  MPI_Win_unlock_all(memory.window);
  return outcome;
}

}  // namespace

// Puts single words to random locations, each followed by a flush; every rank has its own
// locations. Size: puts per round.
Outcome put_random(const Job& job) {
  std::uint64_t state = static_cast<std::uint64_t>(job.rank);
  return writes(job, [&, state](Memory& memory, auto) mutable {
    for (std::int64_t i = 0; i < job.size; ++i) {
      state = apps::mix64(state + 1);
      const auto target = static_cast<int>(state % static_cast<std::uint64_t>(job.ranks));
      const std::int64_t share = (all_words - table) / job.ranks;
      const auto place = job.rank * share + static_cast<std::int64_t>(state >> 20) % share;
      MPI_Put(&state, 1, MPI_UINT64_T, target, place, 1, MPI_UINT64_T, memory.window);
      MPI_Win_flush(target, memory.window);
    }
  });
}

// Accumulates into random words that all ranks share. Size: additions per round.
Outcome accumulate(const Job& job) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(job.size));
  std::uint64_t state = static_cast<std::uint64_t>(job.rank);
  return writes(job, [&](Memory& memory, auto) {
    for (std::uint64_t& value : values) {
      value = state = apps::mix64(state + 1);
      const auto target = static_cast<int>(state % static_cast<std::uint64_t>(job.ranks));
      MPI_Accumulate(&value, 1, MPI_UINT64_T, target,
                     static_cast<MPI_Aint>(state >> 20) % (all_words - table), 1, MPI_UINT64_T,
                     MPI_SUM, memory.window);
    }
    MPI_Win_flush_all(memory.window);
  });
}

// A row of cells whose ends are put to both neighbours between fences. Size: words per end.
Outcome halo(const Job& job) {
  Outcome outcome;
  Memory memory(job);
  const std::int64_t size = std::min(job.size, (all_words - table) / 4);
  MPI_Win_fence(0, memory.window);
  run_rounds(job, outcome, [&](auto round) {
    for (int step = 0; step < 8; ++step) {
      const int left = (job.rank + job.ranks - 1) % job.ranks, right = (job.rank + 1) % job.ranks;
      MPI_Put(&memory[0], static_cast<int>(size), MPI_UINT64_T, left, 2 * size,
              static_cast<int>(size), MPI_UINT64_T, memory.window);
      MPI_Put(&memory[size], static_cast<int>(size), MPI_UINT64_T, right, 3 * size,
              static_cast<int>(size), MPI_UINT64_T, memory.window);
      std::uint64_t word = 0;
      if (job.rank == 0)
        MPI_Get(&word, 1, MPI_UINT64_T, 1 % job.ranks, all_words - table + step, 1, MPI_UINT64_T,
                memory.window);
      MPI_Win_fence(0, memory.window);
      outcome.checksum += word;
      for (std::int64_t i = 0; i < 2 * size; ++i)
        memory[i] =
            apps::mix64(memory[i] ^ memory[2 * size + i] ^ static_cast<std::uint64_t>(round));
      MPI_Win_fence(0, memory.window);
    }
  });
  outcome.checksum += memory.digest();
  return outcome;
}

// In every round, each owner stores to its whole window and the next lower rank reads all of it.
// Size: number of gets that read a window.
Outcome rewritten(const Job& job) {
  Outcome outcome;
  Memory memory(job);
  const std::int64_t part = all_words / job.size;
  std::vector<std::uint64_t> data(static_cast<std::size_t>(part));
  const int target = (job.rank + 1) % job.ranks;
  MPI_Win_lock_all(0, memory.window);
  run_rounds(job, outcome, [&](auto round) {
    for (std::int64_t i = 0; i < all_words; ++i) memory[i] += static_cast<std::uint64_t>(round + i);
    synchronise(job, memory.window);
    for (std::int64_t i = 0; i < job.size; ++i) {
      MPI_Get(data.data(), static_cast<int>(part), MPI_UINT64_T, target, i * part,
              static_cast<int>(part), MPI_UINT64_T, memory.window);
      MPI_Win_flush(target, memory.window);
      for (const std::uint64_t word : data) outcome.checksum += apps::mix64(word);
      outcome.gets += target != job.rank;
    }
    synchronise(job, memory.window);
  });
  MPI_Win_unlock_all(memory.window);
  return outcome;
}

// Sends messages around a ring while a window is idle. Size: messages per round.
Outcome messages(const Job& job) {
  Outcome outcome;
  Memory memory(job);
  const int left = (job.rank + job.ranks - 1) % job.ranks, right = (job.rank + 1) % job.ranks;
  std::uint64_t out = static_cast<std::uint64_t>(job.rank), in = 0;
  run_rounds(job, outcome, [&](auto) {
    for (std::int64_t i = 0; i < job.size; ++i) {
      MPI_Request request;
      MPI_Irecv(&in, 1, MPI_UINT64_T, left, 1, job.comm, &request);
      MPI_Send(&out, 1, MPI_UINT64_T, right, 1, job.comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      out = apps::mix64(in);
    }
    outcome.checksum += out;
  });
  return outcome;
}

}  // namespace clients
