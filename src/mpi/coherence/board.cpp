// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/board.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "mpi/process/insist.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

const uint64_t one_more = 1;

}  // namespace

Board::Board(MPI_Comm comm, std::vector<int> members) : members_(std::move(members)) {
  void* memory = nullptr;
  if (next.Win_allocate(sizeof(Memory), sizeof(uint64_t), MPI_INFO_NULL, comm, &memory, &window_) !=
      MPI_SUCCESS)
    return;
  return_errors(window_);
  memory_ = static_cast<Memory*>(memory);
  *memory_ = Memory{};
  next.Barrier(comm);  // nobody sends anything before all words are 0
  next.Win_lock_all(MPI_MODE_NOCHECK, window_);
}

void Board::free() {
  if (window_ == MPI_WIN_NULL) return;
  next.Win_unlock_all(window_);
  next.Win_free(&window_);
  memory_ = nullptr;
}

void Board::take(uint32_t slot) {
  in_use_[slot] = true;
  first_free_ = std::max(first_free_, slot + 1);
}

void Board::give_back(uint32_t slot) {
  in_use_[slot] = false;
  memory_->slots[slot] = Slot{};
  while (first_free_ > 0 && !in_use_[first_free_ - 1]) --first_free_;
}

void Board::join(uint32_t slot, std::vector<uint64_t>* numbers,
                 std::vector<MPI_Request>* requests) {
  numbers->assign(ranks(), 0);
  requests->clear();
  under_way_ = true;
  for (uint32_t target = 0; target < ranks(); ++target) {
    const int rank = static_cast<int>(target);
    MPI_Request request = MPI_REQUEST_NULL;
    next.Rget_accumulate(&one_more, 1, MPI_UINT64_T, &(*numbers)[target], 1, MPI_UINT64_T, rank,
                         at(slot, offsetof(Slot, joined)), 1, MPI_UINT64_T, MPI_SUM, window_,
                         &request);
    requests->push_back(request);
    next.Accumulate(&one_more, 1, MPI_UINT64_T, rank, offsetof(Memory, joined) / sizeof(uint64_t),
                    1, MPI_UINT64_T, MPI_SUM, window_);
  }
}

void Board::leave(uint32_t slot) {
  under_way_ = true;
  for (uint32_t target = 0; target < ranks(); ++target) {
    const int rank = static_cast<int>(target);
    next.Accumulate(&one_more, 1, MPI_UINT64_T, rank, at(slot, offsetof(Slot, left)), 1,
                    MPI_UINT64_T, MPI_SUM, window_);
    next.Accumulate(&one_more, 1, MPI_UINT64_T, rank, offsetof(Memory, left) / sizeof(uint64_t), 1,
                    MPI_UINT64_T, MPI_SUM, window_);
  }
}

// Plain gets of words that others may be changing: a word is transferred as a whole, and any value
// other than the known one says that something is happening.
template <class Value>
bool Board::read_each(const std::vector<uint32_t>& targets, MPI_Aint place,
                      std::vector<Value>* values) {
  constexpr int count = sizeof(Value) / sizeof(uint64_t);
  values->resize(targets.size());
  under_way_ = true;
  bool good = true;
  for (size_t i = 0; i < targets.size(); ++i) {
    good &= insist([&] {
      return next.Get(&(*values)[i], count, MPI_UINT64_T, static_cast<int>(targets[i]), place,
                      count, MPI_UINT64_T, window_);
    });
  }
  return (targets.size() == 1 ? wait(targets[0]) : wait_for_all()) && good;
}

void Board::read_acked(uint32_t slot, const std::vector<uint32_t>& targets,
                       std::vector<uint64_t>* acked) {
  if (!read_each(targets, at(slot, offsetof(Slot, acked)), acked)) std::ranges::fill(*acked, 0);
}

void Board::read(uint32_t slot, const std::vector<uint32_t>& targets,
                 std::vector<VersionWords>* words) {
  if (read_each(targets, at(slot, offsetof(Slot, words)), words)) return;
  for (VersionWords& its : *words) its.lead = 0, its.own.fill(VersionWords::not_watched);
}

uint64_t Board::read_lead(uint32_t slot, uint32_t target) {
  std::vector<uint64_t> lead;
  const MPI_Aint place = at(slot, offsetof(Slot, words) + offsetof(VersionWords, lead));
  return read_each({target}, place, &lead) ? lead[0] : 0;
}

void Board::add(uint32_t slot, uint32_t target, uint64_t regions, uint64_t delta) {
  if (regions == 0) return;
  const auto first = static_cast<uint32_t>(std::countr_zero(regions)),
             last = static_cast<uint32_t>(63 - std::countl_zero(regions));
  under_way_ = true;
  std::vector<uint64_t>& deltas = sending_.emplace_back(last - first + 1);
  for (uint32_t region = first; region <= last; ++region)
    deltas[region - first] = (regions >> region & 1) != 0 ? delta : 0;
  const int count = static_cast<int>(deltas.size());
  next.Accumulate(
      deltas.data(), count, MPI_UINT64_T, static_cast<int>(target),
      at(slot, offsetof(Slot, words) + offsetof(VersionWords, remote) + first * sizeof(uint64_t)),
      count, MPI_UINT64_T, MPI_SUM, window_);
}

void Board::sent() {
  insist([&] { return next.Win_flush_local_all(window_); });
  sending_.clear();
}

bool Board::wait(uint32_t target) {
  const bool arrived = insist([&] { return next.Win_flush(static_cast<int>(target), window_); });
  if (sending_.size() > 64) sent();
  return arrived;
}

bool Board::wait_for_all() {
  if (!under_way_) return true;
  const bool arrived = insist([&] { return next.Win_flush_all(window_); });
  sending_.clear();
  under_way_ = !arrived;
  return arrived;
}

}  // namespace nearcache::mpi
