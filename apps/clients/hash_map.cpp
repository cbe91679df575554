// SPDX-License-Identifier: BSD-3-Clause

// A distributed hash map with linear probing in one window, in lock_all. To insert, a rank takes a
// slot by compare-and-swap, writes its key with MPI_Rput and adds the value with fetch-and-add.
// After a barrier come the lookups: each probe reads an entry with MPI_Rget and MPI_Wait, even on
// the own rank. A few keys are looked up often, most of them rarely. Size: slots per rank; rounds:
// of inserting and finding.
#include <cmath>
#include <cstddef>

#include "clients/client.h"

namespace clients {
namespace {

struct Entry {
  std::int64_t state;
  std::uint64_t key, value;
};
constexpr std::int64_t empty = 0, reserved = 1, ready = 2;

class Map {
 public:
  explicit Map(const Job& job) : job_(job) {
    Entry* memory;
    MPI_Win_allocate(job.size * static_cast<MPI_Aint>(sizeof(Entry)), 1, MPI_INFO_NULL, job.comm,
                     &memory, &window_);
    for (std::int64_t i = 0; i < job.size; ++i) memory[i] = {};
    MPI_Win_lock_all(0, window_);
    synchronise(job, window_);
  }
  ~Map() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;

  void add(std::uint64_t key, std::uint64_t value) {
    Slot slot = first_slot(key);
    while (!take(slot, key)) next(slot);
    MPI_Fetch_and_op(&value, &ignored_, MPI_UINT64_T, slot.rank, slot.at + offset_value, MPI_SUM,
                     window_);
    MPI_Win_flush(slot.rank, window_);
  }

  // Returns 0 if no rank has added the key.
  std::uint64_t find(std::uint64_t key) {
    for (Slot slot = first_slot(key);; next(slot)) {
      Entry entry;
      get(&entry, sizeof entry, slot.rank, slot.at);
      if (entry.state != ready) return 0;
      if (entry.key == key) return entry.value;
    }
  }

  void barrier() {
    MPI_Win_flush_all(window_);
    synchronise(job_, window_);
  }

  std::uint64_t gets() const { return gets_; }

 private:
  struct Slot {
    int rank;
    MPI_Aint at;
  };
  static constexpr MPI_Aint offset_key = offsetof(Entry, key),
                            offset_value = offsetof(Entry, value);

  Slot first_slot(std::uint64_t key) const {
    const auto number = apps::mix64(key) % static_cast<std::uint64_t>(job_.size * job_.ranks);
    return {static_cast<int>(number) / static_cast<int>(job_.size),
            static_cast<MPI_Aint>(number) % job_.size * static_cast<MPI_Aint>(sizeof(Entry))};
  }

  void next(Slot& slot) const {
    slot.at += static_cast<MPI_Aint>(sizeof(Entry));
    if (slot.at < job_.size * static_cast<MPI_Aint>(sizeof(Entry))) return;
    slot = {(slot.rank + 1) % job_.ranks, 0};
  }

  // Returns true if the slot holds this key, possibly because it was just taken. The state is
  // accessed by compare-and-swap only, because accumulates of different operations at the same
  // location are not ordered.
  bool take(const Slot& slot, std::uint64_t key) {
    std::int64_t state = exchange(slot, empty, reserved);
    if (state == empty) {
      MPI_Request request;
      MPI_Rput(&key, sizeof key, MPI_BYTE, slot.rank, slot.at + offset_key, sizeof key, MPI_BYTE,
               window_, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Win_flush(slot.rank, window_);
      exchange(slot, reserved, ready);
      return true;
    }
    while (state == reserved) state = exchange(slot, ready, ready);
    std::uint64_t there;
    get(&there, sizeof there, slot.rank, slot.at + offset_key);
    return there == key;
  }

  std::int64_t exchange(const Slot& slot, std::int64_t expected, std::int64_t wanted) {
    std::int64_t found;
    MPI_Compare_and_swap(&wanted, &expected, &found, MPI_INT64_T, slot.rank, slot.at, window_);
    MPI_Win_flush(slot.rank, window_);
    return found;
  }

  void get(void* to, int bytes, int rank, MPI_Aint at) {
    MPI_Request request;
    MPI_Rget(to, bytes, MPI_BYTE, rank, at, bytes, MPI_BYTE, window_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    gets_ += rank != job_.rank;
  }

  const Job& job_;
  MPI_Win window_;
  std::uint64_t ignored_ = 0, gets_ = 0;
};

// Draws the k-th of `count` keys with a probability of roughly 1/k.
std::uint64_t drawn_key(std::uint64_t& state, double count) {
  state = apps::mix64(state);
  return 1 + static_cast<std::uint64_t>(
                 std::exp(static_cast<double>(state >> 11) * 0x1p-53 * std::log(count)));
}

}  // namespace

Outcome hash_map(const Job& job) {
  Map map(job);
  const double keys = static_cast<double>(job.size) / 2;
  auto state = static_cast<std::uint64_t>(job.rank);
  Outcome outcome;
  run_rounds(job, outcome, [&](auto) {
    for (std::int64_t i = 0; i < job.size / 64; ++i)
      map.add(drawn_key(state, keys), apps::mix64(state) >> 32);
    map.barrier();
    for (std::int64_t i = 0; i < 2 * job.size; ++i) {
      const auto key = drawn_key(state, keys);
      outcome.checksum += apps::mix64(key ^ map.find(key));
    }
    map.barrier();
  });
  outcome.gets = map.gets();
  return outcome;
}

}  // namespace clients
