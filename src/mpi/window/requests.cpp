#include "mpi/window/requests.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "front/handle_bits.h"
#include "mpi/window/sample_clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

struct Tracked {
  Window* window;
  uint32_t record;
  uint64_t serial;
  uint64_t sample;
  uint64_t ticket;
};

struct RequestTable {
  std::atomic<size_t> count{0};
  std::mutex mutex;
  // By request handle. MPICH gives all requests that are complete at once one and the same handle.
  std::unordered_multimap<uint64_t, Tracked> tracked;
  uint64_t tickets = 0;
};

RequestTable& table() {
  static RequestTable& requests = *new RequestTable;  // needed until the process ends
  return requests;
}

// False if it is not tracked any more.
bool look(uint64_t key, uint64_t ticket, Tracked* found, bool take = false) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  const auto [first, last] = requests.tracked.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (it->second.ticket != ticket) continue;
    *found = it->second;
    if (take) {
      requests.tracked.erase(it);
      requests.count = requests.tracked.size();
    }
    return true;
  }
  return false;
}

// No longer tracked from now on. False if it was not.
bool take(uint64_t key, uint64_t ticket, Tracked* taken) { return look(key, ticket, taken, true); }

}  // namespace

void request_track(MPI_Request request, Window* window, uint32_t record, uint64_t serial, uint64_t sample) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  requests.tracked.emplace(handle_bits(request), Tracked{window, record, serial, sample, ++requests.tickets});
  requests.count = requests.tracked.size();
}

void requests_forget(const Window* window) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  std::erase_if(requests.tracked, [window](const auto& entry) { return entry.second.window == window; });
  requests.count = requests.tracked.size();
}

bool requests_tracked() noexcept { return table().count.load(std::memory_order_relaxed) != 0; }

void note_acquire() noexcept {
  context.acquire();
  context.observer.acquire();
}

void note_own_writes() noexcept { context.observer.note_own_writes(); }

// By the time a call returns, MPI may have given another thread's request the handle; tickets tell them apart.
RequestWatch::RequestWatch(int count, const MPI_Request* before) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  for (int i = 0; i < count; ++i) {
    const uint64_t key = handle_bits(before[i]);
    const auto [first, last] = requests.tracked.equal_range(key);
    for (auto it = first; it != last; ++it) {
      found_.push_back({i, key, it->second.ticket});
      if (it->second.sample != 0 && count == 1) began_ = sample_ticks();
    }
  }
}

void RequestWatch::completed(int code, const MPI_Request* after) {
  const uint64_t ticks = began_ != 0 ? sample_ticks() - began_ : 0;
  for (const Found& found : found_) {
    if (after[found.index] == MPI_REQUEST_NULL) {
      end(found, code == MPI_SUCCESS, ticks);
    } else if (ticks != 0) {
      tested(found, ticks);
    }
  }
}

// It is not complete, and stays tracked.
void RequestWatch::tested(const Found& found, uint64_t ticks) {
  Tracked tracked;
  if (!look(found.key, found.ticket, &tracked)) return;
  const WindowLock lock(tracked.window->mutex());
  tracked.window->request_waited(tracked.sample, ticks, false);
}

void RequestWatch::found_complete(int index) {
  for (const Found& found : found_) {
    if (found.index == index) end(found, true);
  }
}

void RequestWatch::all_found_complete() {
  for (const Found& found : found_) end(found, true);
}

void RequestWatch::not_to_be_kept() {
  for (const Found& found : found_) end(found, false);
}

void RequestWatch::end(const Found& found, bool succeeded, uint64_t ticks) {
  Tracked tracked;
  if (!take(found.key, found.ticket, &tracked)) return;
  const WindowLock lock(tracked.window->mutex());
  if (tracked.sample != 0) tracked.window->request_waited(tracked.sample, succeeded ? ticks : 0, true);
  tracked.window->request_completed(tracked.record, tracked.serial, succeeded);
}

void RequestWatch::released(int code) {
  Tracked tracked;
  if (code != MPI_SUCCESS) return;
  for (const Found& found : found_) take(found.key, found.ticket, &tracked);
}

}  // namespace nearcache::mpi
