#include "mpi/rma/layer.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/handle_table.h"
#include "base/log.h"
#include "front/handle_bits.h"
#include "mpi/process/context.h"
#include "mpi/rma/engine_window.h"

namespace nearcache::mpi {
namespace {

void cover_by_engine(RmaNext* table);

struct EngineLayer {
  RmaUse use = RmaUse::off;
  RmaLayer layer{LayerPlace::rma_engine, cover_by_engine};
  Station station;
  HandleTable<EngineWindow> windows;
  std::atomic<uint64_t> ids{0};  // given to windows by this rank
};

EngineLayer& engine_layer() {
  static EngineLayer& instance = *new EngineLayer;  // needed until the process ends
  return instance;
}

EngineWindow* engine_window(MPI_Win handle) { return engine_layer().windows.find(handle_bits(handle)); }

// A window of the host on this rank alone, in an epoch that never ends: by a get from nobody it gives out requests that are complete.
int make_handle(MPI_Aint bytes, int unit, MPI_Info info, void* base, MPI_Win* handle) {
  const RmaNext& below = below_engine();
  if (const int rc = below.Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_SELF, base, handle); rc != MPI_SUCCESS) return rc;
  if (const int rc = below.Win_lock_all(0, *handle); rc != MPI_SUCCESS) return rc;
  return info == MPI_INFO_NULL ? MPI_SUCCESS : below.Win_set_info(*handle, info);
}

void free_handle(MPI_Win* handle) {
  below_engine().Win_unlock_all(*handle);
  below_engine().Win_free(handle);
}

// What all members of a window agree on, in one reduction by maximum.
struct Agreement {
  uint64_t refuses = 0;  // one of them cannot
  uint64_t far = 0;      // one of them has another on another node
  uint64_t id = 0;       // by the first one
};

// Meets the ranks of a window, and sets the engine up with them. Empty, or why its window is the host's, at all of them alike.
std::string meet(MPI_Comm comm, std::vector<int>* members, bool* far, bool* usable) {
  EngineLayer& layer = engine_layer();
  context_start();
  int size = 0, inter = 0;
  if (next.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return "its communicator is no group of ranks";
  next.Comm_size(comm, &size);
  *members = context.world.members(comm);
  if (members->empty()) return "its communicator reaches outside of the ranks that were started together";
  std::vector<uint8_t> on_other_nodes;
  if (context.world.given_up() || !context.world.meet(comm, *members, &on_other_nodes, patience_ns(size))) return "another rank does not answer";
  *far = std::ranges::any_of(on_other_nodes, [](uint8_t each) { return each != 0; });
  const std::string why = layer.station.set_up(comm, *members);
  *usable = why.empty();
  return layer.station.down() ? why : "";
}

std::string agree_on(MPI_Comm comm, bool usable, bool far, uint64_t* id) {
  EngineLayer& layer = engine_layer();
  int rank = 0;
  next.Comm_rank(comm, &rank);
  const Agreement mine{!usable, far, rank == 0 ? static_cast<uint64_t>(context.rank + 1) << 32 | ++layer.ids : 0};
  Agreement all;
  if (next.Allreduce(&mine, &all, 3, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS) return "MPI_Allreduce failed";
  *id = all.id;
  if (all.refuses != 0) return "the engine cannot do it at one of its ranks";
  return layer.use == RmaUse::on || all.far != 0 ? "" : "its ranks are on one node";
}

// Makes the window, or lets the host do it. `make` makes the handle, and says what memory there is.
template <class Host, class Make>
int create_window(MPI_Comm comm, MPI_Win* win, bool valid, Host host, Make make) {
  EngineLayer& layer = engine_layer();
  EngineWindow::Shape shape{};
  MPI_Win handle = MPI_WIN_NULL;
  std::vector<int> members;
  bool far = false, usable = false;
  uint64_t id = 0;
  std::string why = meet(comm, &members, &far, &usable);
  if (why.empty()) {
    context.devices.look();
    usable = usable && valid && !context.devices.present() && make(&shape, &handle) == MPI_SUCCESS;
    layer.station.begin_opening();
    why = agree_on(comm, usable, far, &id);
    if (!why.empty()) layer.station.end_opening();
  }
  if (!why.empty()) {
    if (handle != MPI_WIN_NULL) free_handle(&handle);
    log(LogLevel::info, "a window is not done by the RMA engine: %s", why.c_str());
    return host();
  }
  MPI_Group group = MPI_GROUP_NULL;
  next.Comm_group(comm, &group);
  rma::Memory memory = shape.flavor == MPI_WIN_FLAVOR_DYNAMIC ? rma::Memory::dynamic()
                                                              : rma::Memory::fixed(shape.base, static_cast<uint64_t>(shape.size), shape.unit);
  rma::Window* window = nullptr;
  {
    const rma::Agent::Lock lock(&layer.station.agent());
    window = layer.station.engine().open(id, rma::Members(members), std::move(memory));
    layer.station.engine().end_opening();
  }
  layer.windows.add(handle_bits(handle), new EngineWindow(&layer.station, handle, group, window, shape));
  *win = handle;
  log(LogLevel::info, "a window is done by the RMA engine");
  return MPI_SUCCESS;
}

template <class Host>
int engine_Win_create(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win, Host host) {
  return create_window(comm, win, size >= 0 && unit > 0 && unit <= INT32_MAX, host, [&](EngineWindow::Shape* shape, MPI_Win* handle) {
    void* unused = nullptr;
    *shape = {base, size, static_cast<int>(unit), MPI_WIN_FLAVOR_CREATE};
    return make_handle(8, 1, info, &unused, handle);
  });
}

template <class Host>
int engine_Win_allocate(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win, Host host) {
  void* base = nullptr;
  const auto make = [&](EngineWindow::Shape* shape, MPI_Win* handle) {
    const int rc = make_handle(size, static_cast<int>(unit), info, &base, handle);
    *shape = {base, size, static_cast<int>(unit), MPI_WIN_FLAVOR_ALLOCATE};
    return rc;
  };
  bool by_host = false;
  const int rc = create_window(comm, win, size >= 0 && unit > 0 && unit <= INT32_MAX, [&] { return by_host = true, host(); }, make);
  if (!by_host) *static_cast<void**>(baseptr) = base;
  return rc;
}

template <class Host>
int engine_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win, Host host) {
  return create_window(comm, win, true, host, [&](EngineWindow::Shape* shape, MPI_Win* handle) {
    void* unused = nullptr;
    *shape = {MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC};
    return make_handle(8, 1, info, &unused, handle);
  });
}

int engine_Win_free(EngineWindow* window, MPI_Win* win) {
  if (const int rc = window->close(); rc != MPI_SUCCESS) return window->report(rc);
  engine_layer().windows.remove(handle_bits(*win));
  free_handle(win);
  delete window;
  return MPI_SUCCESS;
}

#include "rma_layer.inc"

}  // namespace

const RmaNext& below_engine() { return engine_layer().layer.below; }

void rma_install([[maybe_unused]] RmaUse use) {
#ifdef NEARCACHE_FAMILY_SIMGRID
  if (use != RmaUse::off) log(LogLevel::warning, "rma: SimGrid's ranks are threads of one process: the RMA engine is off");
#else
  EngineLayer& layer = engine_layer();
  if (use == RmaUse::off || layer.use != RmaUse::off) return;
  layer.use = use;
  install(&layer.layer);
#endif
}

void rma_stop() {
  if (engine_layer().use != RmaUse::off) engine_layer().station.stop();
}

}  // namespace nearcache::mpi
