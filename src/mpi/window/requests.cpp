// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/requests.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "front/handle_bits.h"
#include "mpi/process/next.h"
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
  std::mutex mutex;  // taken before a window's
  // By request handle. MPICH gives all requests that are complete at once the same handle.
  std::unordered_multimap<uint64_t, Tracked> tracked;
  uint64_t tickets = 0;
  // Besides usual_plain. Those that do not fit in this array are treated like any other request,
  // and their completion as an acquire.
  std::array<PlainRequest, 15> plain;

  // The tracked requests with this handle. Mostly there are none at all.
  auto find(uint64_t key) {
    return tracked.empty() ? std::pair(tracked.end(), tracked.end()) : tracked.equal_range(key);
  }
};

RequestTable& table() {
  static RequestTable& requests = *new RequestTable;  // needed until the process ends
  return requests;
}

PlainRequest* find_plain(uint64_t key) {
  if (usual_plain.count != 0 && usual_plain.key == key) return &usual_plain;
  if (plain_requests == usual_plain.count) return nullptr;
  for (PlainRequest& its : table().plain) {
    if (its.count != 0 && its.key == key) return &its;
  }
  return nullptr;
}

void note_plain(uint64_t key) {
  RequestTable& requests = table();
  const OptionalLock lock(context.threaded ? &requests.mutex : nullptr);
  PlainRequest* place = find_plain(key);
  if (place == nullptr && usual_plain.count == 0) place = &usual_plain;
  if (place == nullptr) place = std::ranges::find(requests.plain, 0u, &PlainRequest::count);
  if (place == requests.plain.end()) return;
  place->key = key;
  place->change(true);
}

// Returns false if the request is no longer tracked. `take`: takes it from the table; the caller
// counts one less when nobody needs to wait for the mutex any more. With the mutex.
bool look(uint64_t key, uint64_t ticket, Tracked* found, bool take = false) {
  RequestTable& requests = table();
  const auto [first, last] = requests.tracked.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (it->second.ticket != ticket) continue;
    *found = it->second;
    if (take) requests.tracked.erase(it);
    return true;
  }
  return false;
}

}  // namespace

void request_track(MPI_Request request, Window* window, uint32_t record, uint64_t serial,
                   uint64_t sample) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  requests.tracked.emplace(handle_bits(request),
                           Tracked{window, record, serial, sample, ++requests.tickets});
  ++tracked_requests;
}

void request_note_plain(MPI_Request request) { note_plain(handle_bits(request)); }

bool is_complete(MPI_Request request) {
  int flag = 0;
  return next.Request_get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag != 0;
}

void requests_forget(const Window* window) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  tracked_requests -= std::erase_if(
      requests.tracked, [window](const auto& entry) { return entry.second.window == window; });
}

// After a failure the communicator is not inspected: it may be invalid. All ranks count phases from
// their start, including a rank whose MPI_Init escaped us, before its first window.
void note_all_met(int code, MPI_Comm comm) noexcept {
  if (!context.started && World::model_is_open()) [[unlikely]]
    context_start();
  if (code != MPI_SUCCESS) {
    context.phases.miscounted();
  } else if (context.world.is_everybody(comm)) {
    context.phases.everybody_met();
  }
}

void note_comm_gone() noexcept { context.world.forget_communicators(); }

// All served Rgets have the same handle, but most were made on the window that was used last.
void call_for_progress_of_waits() noexcept {
  Window* window = context.last_window;
  window != nullptr ? window->call_for_progress() : context.progress.call();
}

void note_own_writes() noexcept { context.observer.note_own_writes(); }

int acquired(int code) noexcept {
  note_acquire();
  return code;
}

// By the time a call returns, MPI may have given the handle to a request of another thread; tickets
// tell them apart.
RequestWatch::RequestWatch(int count, const MPI_Request* before) : threaded_(context.threaded) {
  if (before == nullptr) return;  // an error, which MPI reports
  RequestTable& requests = table();
  const OptionalLock lock(threaded_ ? &requests.mutex : nullptr);
  for (int i = 0; i < count; ++i) {
    const uint64_t key = handle_bits(before[i]);
    const auto [first, last] = requests.find(key);
    for (auto it = first; it != last; ++it) {
      found_.push_back({i, key, it->second.ticket});
      if (it->second.sample != 0 && count == 1) began_ = sample_ticks();
    }
    if (first != last || before[i] == MPI_REQUEST_NULL) continue;
    if (PlainRequest* its = find_plain(key); its != nullptr) {
      found_.push_back({i, key, of_plain});
      if (threaded_) its->change(false);
    } else if (served_request.is(before[i])) {
      found_.push_back({i, key, of_served});
    } else {
      others_ = true;
    }
  }
}

// Notes again those that are not complete.
RequestWatch::~RequestWatch() {
  if (!threaded_) return;
  for (const Found& found : found_) {
    if (found.ticket == of_plain && !found.over) note_plain(found.key);
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

// The request is not complete and stays tracked.
void RequestWatch::tested(const Found& found, uint64_t ticks) {
  Tracked tracked;
  const std::lock_guard lock(table().mutex);
  if (!look(found.key, found.ticket, &tracked)) return;
  const WindowLock window_lock(tracked.window->mutex());
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

void RequestWatch::not_to_be_kept(const MPI_Request* requests) {
  const auto fetches_line = [](const Found& found) {
    Tracked tracked;
    const std::lock_guard lock(table().mutex);
    return look(found.key, found.ticket, &tracked) &&
           tracked.window->fetches_line(tracked.record, tracked.serial);
  };
  for (const Found& found : found_) {
    if (fetches_line(found)) {
      for (int arrived = 0; arrived == 0;) {
        if (next.Request_get_status(requests[found.index], &arrived, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
          break;
      }
    }
    end(found, false);
  }
}

// The request may be another thread's, which waits for the same handle: it must not return, and
// change its buffer, before the data has been taken from there. So the table stays locked.
void RequestWatch::end(const Found& found, bool succeeded, uint64_t ticks) const {
  Tracked tracked;
  if (found.ticket == of_served) return served_request.taken();
  if (found.ticket == of_plain) return end_plain(found);
  const std::lock_guard lock(table().mutex);
  if (!look(found.key, found.ticket, &tracked, true)) return;
  const WindowLock window_lock(tracked.window->mutex());
  if (tracked.sample != 0)
    tracked.window->request_waited(tracked.sample, succeeded ? ticks : 0, true);
  tracked.window->request_completed(tracked.record, tracked.serial, succeeded);
  --tracked_requests;
}

void RequestWatch::end_plain(const Found& found) const {
  found.over = true;
  if (threaded_) return;
  if (PlainRequest* its = find_plain(found.key); its != nullptr) its->change(false);
}

void RequestWatch::to_be_released(const MPI_Request* request) const {
  const auto tracked = [](const Found& found) {
    return found.ticket != of_served && found.ticket != of_plain;
  };
  if (std::none_of(found_.begin(), found_.end(), tracked) || !is_complete(*request)) return;
  for (const Found& found : found_) {
    if (tracked(found)) end(found, true);
  }
}

void RequestWatch::released(int code) {
  Tracked tracked;
  if (code != MPI_SUCCESS) return;
  for (const Found& found : found_) {
    if (found.ticket == of_served) {
      served_request.taken();
    } else if (found.ticket == of_plain) {
      end_plain(found);
    } else {
      const std::lock_guard lock(table().mutex);
      if (look(found.key, found.ticket, &tracked, true)) --tracked_requests;
    }
  }
}

}  // namespace nearcache::mpi
