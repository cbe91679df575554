#include "mpi/process/network_model.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "base/link_model.h"
#include "mpi/types/layout.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

struct Deadline {
  uint64_t window;
  int target;
  bool operator==(const Deadline&) const = default;
};
struct DeadlineHash {
  size_t operator()(const Deadline& d) const { return (d.window * 0x9e3779b97f4a7c15u) ^ static_cast<size_t>(d.target); }
};

struct Model {
  bool installed = false;
  LinkModel link;
  Next real;  // the functions below
  std::mutex mutex;
  std::unordered_map<Deadline, double, DeadlineHash> deadlines;
};

Model& model() {
  static Model instance;
  return instance;
}

uint64_t key_of(MPI_Win window) {
  uint64_t bits = 0;
  std::memcpy(&bits, &window, sizeof(window));
  return bits;
}

void started(MPI_Win window, int target, MPI_Count count, MPI_Datatype type) {
  const Layout* layout = count > 0 && target >= 0 ? layout_of(type) : nullptr;
  const double bytes = layout == nullptr ? 0 : static_cast<double>(layout->size) * static_cast<double>(count);
  Model& m = model();
  const double complete = m.link.start(bytes);
  const std::lock_guard lock(m.mutex);
  double& deadline = m.deadlines[{key_of(window), target}];
  deadline = std::max(deadline, complete);
}

// Waits until everything to `target` (-1: to all) of the window would have arrived.
void arrived(MPI_Win window, int target) {
  Model& m = model();
  double until = 0;
  {
    const std::lock_guard lock(m.mutex);
    for (auto it = m.deadlines.begin(); it != m.deadlines.end();) {
      if (it->first.window == key_of(window) && (target < 0 || it->first.target == target)) {
        until = std::max(until, it->second);
        it = m.deadlines.erase(it);
      } else {
        ++it;
      }
    }
  }
  LinkModel::wait_until(until);
}

int modelled_get(void* o, int oc, MPI_Datatype ot, int t, MPI_Aint d, int tc, MPI_Datatype tt, MPI_Win w) {
  started(w, t, oc, ot);
  return model().real.Get(o, oc, ot, t, d, tc, tt, w);
}
int modelled_put(const void* o, int oc, MPI_Datatype ot, int t, MPI_Aint d, int tc, MPI_Datatype tt, MPI_Win w) {
  started(w, t, oc, ot);
  return model().real.Put(o, oc, ot, t, d, tc, tt, w);
}
int modelled_flush(int t, MPI_Win w) {
  const int rc = model().real.Win_flush(t, w);
  arrived(w, t);
  return rc;
}
int modelled_flush_local(int t, MPI_Win w) {
  const int rc = model().real.Win_flush_local(t, w);
  arrived(w, t);
  return rc;
}
int modelled_flush_all(MPI_Win w) {
  const int rc = model().real.Win_flush_all(w);
  arrived(w, -1);
  return rc;
}
int modelled_flush_local_all(MPI_Win w) {
  const int rc = model().real.Win_flush_local_all(w);
  arrived(w, -1);
  return rc;
}
int modelled_unlock(int t, MPI_Win w) {
  const int rc = model().real.Win_unlock(t, w);
  arrived(w, t);
  return rc;
}
int modelled_unlock_all(MPI_Win w) {
  const int rc = model().real.Win_unlock_all(w);
  arrived(w, -1);
  return rc;
}
int modelled_fence(int assert, MPI_Win w) {
  const int rc = model().real.Win_fence(assert, w);
  arrived(w, -1);
  return rc;
}
int modelled_complete(MPI_Win w) {
  const int rc = model().real.Win_complete(w);
  arrived(w, -1);
  return rc;
}

}  // namespace

std::string network_model_install(const std::string& text) {
  Model& m = model();
  if (text.empty() || m.installed) return {};
  const std::string wrong = m.link.set(text);
  if (!wrong.empty()) return wrong;
  m.installed = true;
  m.real = next;
  next.Get = modelled_get;
  next.Put = modelled_put;
  next.Win_flush = modelled_flush;
  next.Win_flush_local = modelled_flush_local;
  next.Win_flush_all = modelled_flush_all;
  next.Win_flush_local_all = modelled_flush_local_all;
  next.Win_unlock = modelled_unlock;
  next.Win_unlock_all = modelled_unlock_all;
  next.Win_fence = modelled_fence;
  next.Win_complete = modelled_complete;
  return {};
}

std::string network_model_label() {
  const Model& m = model();
  return m.installed ? m.link.label() : std::string();
}

}  // namespace nearcache::mpi
