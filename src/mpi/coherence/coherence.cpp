// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/coherence.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "front/optional_lock.h"
#include "mpi/coherence/coherent_window.h"
#include "mpi/process/context.h"
#include "mpi/rma/layer.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// Of each allowance: one part in this many of the time, and what may be spent at once.
constexpr uint64_t allowed_share = 100;
constexpr uint64_t allowed_at_once_ns = 500000;

}  // namespace

Board* Coherence::find(const std::vector<int>& members) const {
  const uint32_t count = boards_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (board_[i]->members() == members) return board_[i].get();
  }
  return nullptr;
}

std::string Coherence::propose(const std::vector<int>& members, uint32_t* slot) const {
  if (context.threaded) return "the program has MPI_THREAD_MULTIPLE";
  if (members.size() < 2) return "it has one rank only";
  if (members.size() > context.options.coherent_ranks)
    return "it has more ranks than coherent_ranks";
  if (!context.world.has_model()) return "the program has sessions only";
  if (host_has(HostDefect::put_never_arrives)) return "with this MPI flushed puts may never arrive";
  const Board* board = find(members);
  if (board == nullptr && boards_.load(std::memory_order_relaxed) == most_boards)
    return "there are too many groups of ranks that have windows";
  *slot = board != nullptr ? board->first_free() : 0;
  return *slot < Board::slots ? "" : "there are too many windows of its ranks";
}

Board* Coherence::board_for(MPI_Comm comm, const std::vector<int>& members) {
  if (Board* board = find(members); board != nullptr) return board;
  const uint32_t count = boards_.load(std::memory_order_relaxed);
  board_[count] = std::make_unique<Board>(comm, members);
  if (!board_[count]->ready()) return nullptr;
  words_[count] = board_[count]->readers();
  boards_.store(count + 1, std::memory_order_release);
  words_of_readers_.store(count == 0 ? words_[0] : somebody, std::memory_order_release);
  return board_[count].get();
}

Allowances* Coherence::allowances() {
  if (allowances_ == nullptr) {
    const Allowance each(allowed_share, ns_to_ticks(allowed_at_once_ns), clock_ticks());
    allowances_ = std::make_unique<Allowances>(Allowances{each, each});
  }
  return allowances_.get();
}

static constexpr const char* also_of_another = "another window has a part of its memory";

// Readers keep nothing of windows that have a part of this memory. Returns whether there are any,
// coherent or not. With the mutex.
bool Coherence::give_up_windows_with(uintptr_t begin, uintptr_t end) {
  bool any = false;
  for (const Exposed& other : exposed_) {
    if (!other.has_some_of(begin, end)) continue;
    any = true;
    if (other.window != nullptr) other.window->own_stores().never(also_of_another);
  }
  return any;
}

void Coherence::exposes(MPI_Win handle, CoherentWindow* window, const void* base, uint64_t bytes,
                        const char* changed_unseen) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(base);
  const uintptr_t end = begin + bytes;
  if (give_up_windows_with(begin, end) && window != nullptr)
    window->own_stores().never(also_of_another);
  if (window != nullptr && !context.options.watch_stores)
    window->own_stores().never("option watch_stores is off");
  if (window != nullptr && changed_unseen != nullptr) window->own_stores().never(changed_unseen);
  exposed_.push_back({handle, window, begin, end});
}

void Coherence::will_expose(const void* base, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(base);
  give_up_windows_with(begin, begin + bytes);
}

void Coherence::no_longer_exposes(MPI_Win handle) {
  const std::lock_guard lock(mutex_);
  std::erase_if(exposed_, [&](const Exposed& memory) { return memory.handle == handle; });
}

bool Coherence::is_exposed(const void* base, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(base);
  return std::ranges::any_of(
      exposed_, [&](const Exposed& memory) { return memory.has_some_of(begin, begin + bytes); });
}

void Coherence::detached(MPI_Win handle, const void* base) {
  const std::lock_guard lock(mutex_);
  std::erase_if(exposed_, [&](const Exposed& memory) {
    return memory.handle == handle && memory.begin == reinterpret_cast<uintptr_t>(base);
  });
}

void Coherence::threads_came() {
  const std::lock_guard lock(mutex_);
  for (const Exposed& memory : exposed_) {
    if (memory.window != nullptr) memory.window->never_again();
  }
}

void Coherence::receives(const void* from, uint64_t bytes, bool later) {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  for (const Exposed& memory : exposed_) {
    if (memory.window == nullptr) continue;
    OwnStores& own = memory.window->own_stores();
    const uint64_t regions = own.regions_of(from, bytes);
    if (later) {
      own.never(regions);
    } else {
      own.will_have_changed(regions);
    }
  }
}

void Coherence::publish(bool releases) {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  for (const Exposed& memory : exposed_) {
    if (memory.window != nullptr) releases ? memory.window->publish() : memory.window->attend();
  }
}

void Coherence::all_meet() {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  for (const Exposed& memory : exposed_) {
    if (memory.window != nullptr) memory.window->meets();
  }
}

void Coherence::stop() {
  for (const Exposed& memory : exposed_) {
    if (memory.window != nullptr) memory.window->end();
  }
  for (Window* window : context.windows.all()) window->end_coherence();
  exposed_.clear();
  const uint32_t count = boards_.exchange(0);
  words_of_readers_.store(nobody, std::memory_order_release);
  rma_look_again();
  for (uint32_t i = 0; i < count; ++i) {
    board_[i]->free();
    board_[i].reset();
  }
}

}  // namespace nearcache::mpi
