// SPDX-License-Identifier: BSD-3-Clause

// A store of training samples: every rank holds a part of them in a window and reads batches in an
// order that is shuffled anew for every epoch, each sample once. A batch is read between two
// fences, or sample by sample under shared locks. Size: samples per rank; rounds: epochs.
#include <algorithm>
#include <numeric>

#include "clients/client.h"

namespace clients {
namespace {

constexpr std::int64_t words = 512, batch = 32;  // a sample is 4 KiB

struct Sample {
  std::vector<std::uint64_t> data = std::vector<std::uint64_t>(words);
  std::uint64_t digest(std::int64_t number) const {
    return apps::mix64(static_cast<std::uint64_t>(number) ^
                       std::accumulate(data.begin(), data.end(), std::uint64_t{0}));
  }
};

class Store {
 public:
  explicit Store(const Job& job) : job_(job), memory_(static_cast<std::size_t>(job.size * words)) {
    const auto first = static_cast<std::uint64_t>(job.rank * job.size * words);
    for (std::uint64_t i = 0; i < memory_.size(); ++i) memory_[i] = apps::mix64(first + i);
    MPI_Win_create(memory_.data(), job.size * words * 8, 1, MPI_INFO_NULL, job.comm, &window_);
  }
  ~Store() { MPI_Win_free(&window_); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void fence() { MPI_Win_fence(0, window_); }

  void get(std::int64_t number, Sample& sample) {
    const int owner = owner_of(number);
    MPI_Get(sample.data.data(), words, MPI_UINT64_T, owner, number % job_.size * words * 8, words,
            MPI_UINT64_T, window_);
    gets_ += owner != job_.rank;
  }

  void get_locked(std::int64_t number, Sample& sample) {
    MPI_Win_lock(MPI_LOCK_SHARED, owner_of(number), 0, window_);
    get(number, sample);
    MPI_Win_unlock(owner_of(number), window_);
  }

  std::uint64_t gets() const { return gets_; }

 private:
  int owner_of(std::int64_t number) const { return static_cast<int>(number / job_.size); }

  const Job& job_;
  std::vector<std::uint64_t> memory_;
  MPI_Win window_;
  std::uint64_t gets_ = 0;
};

// Returns the order of the samples in an epoch, the same on all ranks (Fisher, Yates).
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t epoch) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::uint64_t state = epoch;
  for (auto i = order.size(); i > 1; --i) {
    state = apps::mix64(state);
    std::swap(order[i - 1], order[state % i]);
  }
  return order;
}

// `load(numbers, samples)` fetches a batch.
template <class Load>
Outcome epochs(const Job& job, Load load) {
  Outcome outcome;
  std::vector<Sample> samples(batch);
  run_rounds(job, outcome, [&](auto epoch) {
    const auto order = shuffled(job.size * job.ranks, static_cast<std::uint64_t>(epoch));
    for (std::int64_t done = 0; done < job.size; done += batch) {
      const auto first = order.begin() + job.rank * job.size + done;
      const std::vector<std::int64_t> numbers(first, first + std::min(batch, job.size - done));
      load(numbers, samples);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        outcome.checksum += samples[i].digest(numbers[i] + epoch);
    }
  });
  return outcome;
}

}  // namespace

Outcome samples_fence(const Job& job) {
  Store store(job);
  Outcome outcome = epochs(job, [&](const auto& numbers, auto& samples) {
    store.fence();
    for (std::size_t i = 0; i < numbers.size(); ++i) store.get(numbers[i], samples[i]);
    store.fence();
  });
  outcome.gets = store.gets();
  return outcome;
}

Outcome samples_lock(const Job& job) {
  Store store(job);
  Outcome outcome = epochs(job, [&](const auto& numbers, auto& samples) {
    for (std::size_t i = 0; i < numbers.size(); ++i) store.get_locked(numbers[i], samples[i]);
  });
  MPI_Barrier(job.comm);
  outcome.gets = store.gets();
  return outcome;
}

}  // namespace clients
