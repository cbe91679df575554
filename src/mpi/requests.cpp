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
  std::unordered_map<uint64_t, Tracked> tracked;  // by request handle
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

void forget(uint64_t key) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  requests.count -= requests.tracked.erase(key);
}

}  // namespace

void request_track(MPI_Request request, Window* window, uint32_t record, uint32_t serial) {
  RequestTable& requests = table();
  const std::lock_guard lock(requests.mutex);
  requests.tracked[key_of(request)] = {window, record, serial};
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
    Tracked tracked;
    {
      RequestTable& requests = table();
      const std::lock_guard lock(requests.mutex);
      const auto at = requests.tracked.find(found.key);
      if (at == requests.tracked.end()) return;
      tracked = at->second;
      requests.tracked.erase(at);
      requests.count = requests.tracked.size();
    }
    const WindowLock lock(tracked.window->mutex());
    tracked.window->request_completed(tracked.record, tracked.serial);
    return;
  }
}

void RequestWatch::released() {
  for (const Found& found : found_) forget(found.key);
}

}  // namespace nearcache::mpi
