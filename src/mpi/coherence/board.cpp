// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/board.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

#include "base/clock.h"
#include "mpi/process/insist.h"
#include "mpi/process/next.h"
#include "mpi/process/put_words.h"

namespace nearcache::mpi {
namespace {

const uint64_t one_more = 1;
// How long a target may take for an accumulate before this rank looks whether it answers gets; and
// how much longer if it does.
constexpr uint64_t usual_ns = 10'000'000, longest_ns = 250'000'000;

}  // namespace

Board::Board(MPI_Comm comm, std::vector<int> members)
    : members_(std::move(members)),
      memory_(static_cast<Memory*>(window_.allocate(comm, sizeof(Memory), sizeof(uint64_t)))) {
  if (memory_ == nullptr) return;
  *memory_ = Memory{};
  window_.open();
}

void Board::free() {
  for (Sent& sent : sent_)
    next.Waitall(static_cast<int>(sent.requests.size()), sent.requests.data(), MPI_STATUSES_IGNORE);
  sent_.clear();
  window_.free();
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
  numbers->assign(2 * ranks(), 0);
  requests->clear();
  under_way_ = true;
  const auto add_one = [&](uint32_t target, MPI_Aint place, uint64_t* before) {
    MPI_Request& request = requests->emplace_back(MPI_REQUEST_NULL);
    next.Rget_accumulate(&one_more, 1, MPI_UINT64_T, before, 1, MPI_UINT64_T,
                         static_cast<int>(target), place, 1, MPI_UINT64_T, MPI_SUM, window_.get(),
                         &request);
  };
  for (uint32_t target = 0; target < ranks(); ++target) {
    add_one(target, at(slot, offsetof(Slot, joined)), &(*numbers)[target]);
    add_one(target, offsetof(Memory, joined) / sizeof(uint64_t), &(*numbers)[ranks() + target]);
  }
}

void Board::leave(uint32_t slot) {
  under_way_ = true;
  for (uint32_t target = 0; target < ranks(); ++target) {
    for (const MPI_Aint place : {at(slot, offsetof(Slot, left)),
                                 static_cast<MPI_Aint>(offsetof(Memory, left) / sizeof(uint64_t))})
      next.Accumulate(&one_more, 1, MPI_UINT64_T, static_cast<int>(target), place, 1, MPI_UINT64_T,
                      MPI_SUM, window_.get());
  }
}

// Plain gets of words that others may be changing: a word is transferred as a whole, and any value
// other than the known one says that something is happening.
template <class Value>
bool Board::read_each(const std::vector<uint32_t>& targets, MPI_Aint place,
                      std::vector<Value>* values) {
  values->resize(targets.size());
  return get_words(window_.get(), targets, place, sizeof(Value) / sizeof(uint64_t),
                   reinterpret_cast<uint64_t*>(values->data()));
}

void Board::read_acked(uint32_t slot, const std::vector<uint32_t>& targets,
                       std::vector<uint64_t>* acked) {
  if (!read_each(targets, at(slot, offsetof(Slot, acked)), acked)) std::ranges::fill(*acked, 0);
}

void Board::read(uint32_t slot, const std::vector<uint32_t>& targets,
                 std::vector<VersionWords>* words) {
  if (read_each(targets, at(slot, offsetof(Slot, words)), words)) return;
  for (VersionWords& its : *words) its.lead = 0, its.lost = 1;
}

uint64_t Board::read_lead(uint32_t slot, uint32_t target) {
  std::vector<uint64_t> lead;
  const MPI_Aint place = at(slot, offsetof(Slot, words) + offsetof(VersionWords, lead));
  return read_each({target}, place, &lead) ? lead[0] : 0;
}

Board::Sent* Board::add(uint32_t slot, uint32_t target, uint64_t regions, uint64_t delta,
                        bool fetches) {
  const auto first = static_cast<uint32_t>(std::countr_zero(regions)),
             last = static_cast<uint32_t>(63 - std::countl_zero(regions));
  forget_arrived();
  under_way_ = true;
  Sent& sent = sent_.emplace_back();
  sent.requests.assign(1, MPI_REQUEST_NULL);
  sent.deltas.resize(last - first + 1);
  for (uint32_t region = first; region <= last; ++region)
    sent.deltas[region - first] = (regions >> region & 1) != 0 ? delta : 0;
  const int count = static_cast<int>(sent.deltas.size()), rank = static_cast<int>(target);
  const MPI_Aint place =
      at(slot, offsetof(Slot, words) + offsetof(VersionWords, remote) + first * sizeof(uint64_t));
  int rc = MPI_SUCCESS;
  if (fetches) {
    sent.before.resize(sent.deltas.size());
    rc = next.Rget_accumulate(sent.deltas.data(), count, MPI_UINT64_T, sent.before.data(), count,
                              MPI_UINT64_T, rank, place, count, MPI_UINT64_T, MPI_SUM,
                              window_.get(), sent.requests.data());
  } else {
    rc = next.Raccumulate(sent.deltas.data(), count, MPI_UINT64_T, rank, place, count, MPI_UINT64_T,
                          MPI_SUM, window_.get(), sent.requests.data());
  }
  sent.refused = rc != MPI_SUCCESS;
  return &sent;
}

// A target that answers gets, but not the accumulate, is one whose MPI needs a call there for
// that.
bool Board::arrives(Sent* sent, uint32_t target) {
  if (sent->refused) return false;
  const auto is_done = [&](size_t request, bool* failed) {
    int done = 0;
    *failed = next.Test(&sent->requests[request], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    return done != 0;
  };
  const uint64_t began = clock_ticks();
  uint64_t answered = 0;
  for (bool failed = false; !failed;) {
    if (is_done(0, &failed)) return !failed;
    const uint64_t now = clock_ticks();
    if (answered != 0) {
      if (now - answered > ns_to_ticks(longest_ns)) return false;
    } else if (sent->requests.size() > 1) {
      if (is_done(1, &failed)) answered = now;
    } else if (now - began > ns_to_ticks(usual_ns)) {
      sent->requests.push_back(MPI_REQUEST_NULL);
      failed = next.Rget(&sent->probed, 1, MPI_UINT64_T, static_cast<int>(target), 0, 1,
                         MPI_UINT64_T, window_.get(), &sent->requests[1]) != MPI_SUCCESS;
    }
  }
  return false;
}

void Board::lose(uint32_t slot, uint32_t target) {
  const MPI_Aint place = at(slot, offsetof(Slot, words) + offsetof(VersionWords, lost));
  put_words(window_.get(), {static_cast<int>(target)}, {&one_more, MPI_UINT64_T, place, place},
            [](uint64_t lost) { return lost != 0; });
}

bool Board::open(uint32_t slot, uint32_t target, uint64_t regions) {
  if (arrives(add(slot, target, regions, VersionWords::open, true), target)) return true;
  lose(slot, target);
  return false;
}

void Board::close(uint32_t slot, uint32_t target, uint64_t regions) {
  if (regions != 0) add(slot, target, regions, VersionWords::close, false);
}

void Board::forget_arrived() {
  std::erase_if(sent_, [](Sent& sent) {
    int done = 0;
    next.Testall(static_cast<int>(sent.requests.size()), sent.requests.data(), &done,
                 MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

void Board::wait_for_all() {
  if (!under_way_) return;
  under_way_ = !insist([&] { return next.Win_flush_all(window_.get()); });
}

}  // namespace nearcache::mpi
