// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/network_model.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "front/deadlines.h"
#include "front/handle_bits.h"
#include "front/network_model.h"
#include "mpi/process/next.h"
#include "mpi/types/type_table.h"

namespace nearcache::mpi {
namespace {

struct Deadline {
  uint64_t window;
  int target;
  bool operator==(const Deadline&) const = default;
};
struct DeadlineHash {
  size_t operator()(const Deadline& d) const {
    return (d.window * 0x9e3779b97f4a7c15u) ^ static_cast<size_t>(d.target);
  }
};

void cover(RmaNext* table);

struct Model : NetworkModel<RmaNext> {
  Model() : NetworkModel(cover) {}

  Deadlines<Deadline, DeadlineHash> deadlines;
  std::mutex mutex;  // guards the members below
  // By request handle, in the order of their start. MPICH gives all requests that are complete at
  // once the same handle.
  std::multimap<uint64_t, double> requests;
};

Model& model() {
  static Model& instance = *new Model;  // needed until the process ends
  return instance;
}

// Notes a transfer. Returns the time at which it will be complete, or 0 if it moves no bytes.
double started(MPI_Win window, int target, MPI_Count count, MPI_Datatype type) {
  const Layout* layout = count > 0 && target >= 0 ? layout_of(type) : nullptr;
  if (layout == nullptr || layout->size == 0) return 0;
  Model& m = model();
  const double complete =
      m.link.start(static_cast<double>(layout->size) * static_cast<double>(count));
  m.deadlines.add({handle_bits(window), target}, complete);
  return complete;
}

void requested(MPI_Request request, double complete) {
  if (complete == 0) return;
  Model& m = model();
  const std::lock_guard lock(m.mutex);
  m.requests.emplace(handle_bits(request), complete);
}

void arrived(MPI_Win window, int target) {
  model().deadlines.wait_for([wanted = Deadline{handle_bits(window), target}](
                                 const Deadline& deadline) { return deadline == wanted; });
}
void arrived_all(MPI_Win window) {
  model().deadlines.wait_for(
      [bits = handle_bits(window)](const Deadline& deadline) { return deadline.window == bits; });
}

// The modelled requests among those of a call.
class RequestDeadlines {
 public:
  RequestDeadlines(int count, const MPI_Request* requests) {
    Model& m = model();
    const std::lock_guard lock(m.mutex);
    if (m.requests.empty()) return;
    for (int i = 0; i < count; ++i) {
      const auto found = m.requests.find(handle_bits(requests[i]));
      if (found != m.requests.end()) found_.push_back({i, found->first, found->second});
    }
  }

  // Whether one of them has not arrived yet according to the model.
  bool ahead() const {
    return !found_.empty() && std::ranges::max(found_, {}, &Found::complete).complete >
                                  static_cast<double>(system_ns());
  }

  // Waits for those that MPI has completed.
  void wait_for_completed(const MPI_Request* after) {
    Model& m = model();
    double until = 0;
    for (const Found& found : found_) {
      if (after[found.index] != MPI_REQUEST_NULL) continue;
      until = std::max(until, found.complete);
      const std::lock_guard lock(m.mutex);
      const auto it = m.requests.find(found.key);
      if (it != m.requests.end()) m.requests.erase(it);
    }
    LinkModel::wait_until(until);
  }

 private:
  struct Found {
    int index;
    uint64_t key;
    double complete;
  };
  std::vector<Found> found_;
};

#include "network_model.inc"

}  // namespace

std::string network_model_install(const std::string& text) { return model().set(text); }

std::string network_model_label() { return model().label(); }

}  // namespace nearcache::mpi
