#include "mpi/requests.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "mpi/window.h"

namespace nearcache::mpi {
namespace {

struct Tracked {
  Window* window;
  uint32_t record;
  uint32_t serial;
};

struct RequestTable {
  std::atomic<size_t> count{0};
  std::mutex mutex;
  // By request handle. MPICH gives all requests that are complete at once one and the same handle.
  std::unordered_multimap<uint64_t, Tracked> tracked;
};

RequestTable& table() {
  static RequestTable requests;
  return requests;
}

uint64_t key_of(MPI_Request request) {
  uint64_t bits = 0;
  static_assert(sizeof(request) <= sizeof(bits));
  std::memcpy(&bits, &request, sizeof(request));
  return bits;
}

// Everything tracked under a handle, which is complete then: active requests never share one.
std::vector<Tracked> take(uint64_t key) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  std::vector<Tracked> taken;
  const auto [first, last] = requests.tracked.equal_range(key);
  for (auto it = first; it != last; ++it) taken.push_back(it->second);
  requests.tracked.erase(first, last);
  requests.count = requests.tracked.size();
  return taken;
}

}  // namespace

void request_track(MPI_Request request, Window* window, uint32_t record, uint32_t serial) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  requests.tracked.emplace(key_of(request), Tracked{window, record, serial});
  requests.count = requests.tracked.size();
}

void requests_forget(const Window* window) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  std::erase_if(requests.tracked, [window](const auto& entry) { return entry.second.window == window; });
  requests.count = requests.tracked.size();
}

bool requests_tracked() noexcept { return table().count.load(std::memory_order_relaxed) != 0; }

void note_acquire() noexcept { context.acquire(); }

RequestWatch::RequestWatch(int count, const MPI_Request* before) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  for (int i = 0; i < count; ++i) {
    const uint64_t key = key_of(before[i]);
    if (requests.tracked.contains(key)) found_.push_back({i, key});
  }
}

void RequestWatch::completed(const MPI_Request* after) {
  for (const Found& found : found_) {
    if (after[found.index] == MPI_REQUEST_NULL) completed_one(found.index);
  }
}

void RequestWatch::completed_one(int index) {
  for (const Found& found : found_) {
    if (found.index != index) continue;
    for (const Tracked& tracked : take(found.key)) {
      const WindowLock lock(tracked.window->mutex());
      tracked.window->request_completed(tracked.record, tracked.serial);
    }
    return;
  }
}

void RequestWatch::released() {
  for (const Found& found : found_) take(found.key);
}

}  // namespace nearcache::mpi
