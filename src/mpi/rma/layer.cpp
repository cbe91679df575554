// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/layer.h"
#include "mpi/process/info_value.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/handle_table.h"
#include "base/log.h"
#include "base/round.h"
#include "front/handle_bits.h"
#include "mpi/process/agree.h"
#include "mpi/process/context.h"
#include "mpi/rma/engine_window.h"
#include "mpi/rma/fetches.h"
#include "mpi/rma/handles.h"
#include "mpi/rma/straight.h"
#include "mpi/types/type_map.h"
#include "mpi/window/visibility.h"
#include "net/handshake.h"
#include "telemetry/report.h"

namespace nearcache::mpi {
namespace {

// unused under SimGrid, which has no RMA engine
[[maybe_unused]] void cover_by_engine(RmaNext* table);

struct EngineLayer {
  RmaUse use = RmaUse::off;
  RmaLayer layer{LayerPlace::rma_engine, cover_by_engine};
  Station station;
  Handles handles;
  Fetches fetches{&station};
  HandleTable<EngineWindow> windows;
  HandleTable<EngineWindow> leaving;  // windows whose attributes are being deleted
  std::atomic<uint64_t> ids{0};       // given to windows by this rank
};

// Set by rma_install and valid until the process ends; null if there is no engine.
std::atomic<EngineLayer*> the_layer{nullptr};

EngineLayer& engine_layer() { return *the_layer.load(std::memory_order_relaxed); }

// The most recently used window, since most programs use one at a time. Only without threads, which
// might free it.
struct Recent {
  MPI_Win handle{};
  EngineWindow* window = nullptr;
} recent;

[[gnu::always_inline]] inline EngineWindow* recent_window(MPI_Win handle) {
  return handle == recent.handle ? recent.window : nullptr;
}

bool is_on_top();

void forget_straight() {
  straight.forget();
  straight_before.forget();
  straight_in_pause.forget();
  straight_in_pause_before.forget();
}

// Opens the fast path of a window if it has none yet, and keeps that of the last one.
void open_straight(MPI_Win handle, EngineWindow* window) {
  if (straight.is_of(handle) || straight_in_pause.is_of(handle) || straight_turns_to(handle))
    return;
  Window* const cached = context.windows.find(handle);
  if (cached == nullptr) return;
  switch (cached->passed_by()) {
    case PassedBy::always:
      std::swap(straight, straight_before);
      return straight.use(handle, window, cached);
    case PassedBy::in_pause:
      std::swap(straight_in_pause, straight_in_pause_before);
      return straight_in_pause.use(handle, window, cached);
    case PassedBy::never:
      return;
  }
}

EngineWindow* engine_window(MPI_Win handle) {
  if (EngineWindow* const window = recent_window(handle); window != nullptr) return window;
  EngineWindow* const window = engine_layer().windows.find(handle_bits(handle));
  if (window == nullptr || context.threaded) return window;
  recent = {handle, window};
  if (is_on_top()) {
    open_straight(handle, window);
  } else {
    forget_straight();
  }
  return window;
}

// Like engine_window(), for calls that only query the window: callbacks that delete its attributes
// may make them, too.
EngineWindow* window_to_describe(MPI_Win handle) {
  EngineWindow* const window = engine_window(handle);
  return window != nullptr ? window : engine_layer().leaving.find(handle_bits(handle));
}

// What all members of a window agree on, in one reduction by maximum.
struct Agreement {
  uint64_t late = 0;     // a member did not wait for the others
  uint64_t refuses = 0;  // a member cannot take part
  uint64_t wanted = 0;   // option rma=on, or a member has another one on another node
  uint64_t partial = 0;  // they are not all ranks
  uint64_t down = 0;     // the engine is not set up at a member
  uint64_t apart = 0;    // a member cannot share any more words with its node
  uint64_t id = 0;       // chosen by the first member
};

// What this rank contributes to a window.
struct Part {
  EngineWindow::Shape shape{};
  MPI_Win handle = MPI_WIN_NULL;
  std::byte* shared = nullptr;  // memory in the arena
};

void give_back(Part* part) {
  Station& station = engine_layer().station;
  if (part->handle != MPI_WIN_NULL) engine_layer().handles.free(&part->handle, [] {});
  if (part->shared == nullptr) return;
  const rma::Agent::Lock lock(&station.agent());
  station.node()->give_back(part->shared);
}

// Whether this rank can share the words of one more window with its node, or has nobody to share
// them with.
bool has_room() {
  Station& station = engine_layer().station;
  const rma::Agent::Lock lock(&station.agent());
  return station.node() == nullptr || station.node()->has_room();
}

// What must be the same at all ranks: they send each other memory as it is, and share words.
[[maybe_unused]] std::string kind_of_engine() {
  std::string all = version_text();
  for (const uint64_t each :
       {uint64_t{std::endian::native == std::endian::little}, uint64_t{sizeof(void*)},
        net::Hello::our_format, uint64_t{sizeof(rma::Commons)}})
    all += ' ' + std::to_string(each);
  return all;
}

// Returns why the host takes a window.
std::string refuse_other_engine(int rank, int other) {
  static std::atomic<bool> told{false};
  std::string why = "rank " + std::to_string(other) +
                    " of its communicator has another version, byte order or word size of "
                    "the RMA engine than rank 0";
  if (rank == 0 && !told.exchange(true))
    log(LogLevel::warning, "rma: windows are left to MPI: %s", why.c_str());
  return why;
}

struct Agreed {
  std::vector<int> members;
  uint64_t id = 0;
  bool shares = false;  // ranks of a node share words of it
};

// Has the members of a window agree that the engine takes it, and begins its opening. Returns "",
// or why the host takes it, the same at all of them. `make` is called at most once, when the engine
// is set up; it returns false if this rank cannot take part.
template <class Make>
std::string agree_on_engine(MPI_Comm comm, Make make, Part* part, Agreed* window) {
  EngineLayer& layer = engine_layer();
  World& world = context.world;
  int size = 0, rank = 0;
  next.Comm_size(comm, &size);
  next.Comm_rank(comm, &rank);
  World::Met met;
  const bool late = !world.meet(comm, window->members, &met, patience_ns(size));
  if (met.without_engine) return "one of its ranks was late";
  if (!late && !met.all_have_engine) return "one of its ranks runs without the engine";
  if (!late && met.other_engine >= 0) return refuse_other_engine(rank, met.other_engine);
  const bool far = std::ranges::any_of(met.far, [](uint8_t each) { return each != 0; });
  bool usable = true, made = false;
  for (;;) {
    const Station::State state = layer.station.begin_opening();
    if (state == Station::State::up && !late && !std::exchange(made, true)) usable = make(part);
    const bool up = state == Station::State::up;
    const Agreement mine{
        .late = late,
        .refuses = !usable || state == Station::State::impossible,
        .wanted = layer.use == RmaUse::on || far,
        .partial = !world.is_everybody(comm),
        .down = state == Station::State::down,
        .apart = up && !has_room(),
        .id = rank == 0 ? static_cast<uint64_t>(context.rank + 1) << 32 | ++layer.ids : 0};
    Agreement all;
    const bool agreed = agree(comm, MPI_UINT64_T, mine, &all);
    if (agreed && all.late == 0 && all.refuses == 0 && all.wanted != 0 && all.down == 0) {
      window->id = all.id;
      window->shares = all.apart == 0;
      return "";
    }
    if (up) layer.station.end_opening();
    if (!agreed) return "MPI_Iallreduce failed";
    if (all.late != 0) {
      world.do_without_engine(comm);
      return "another rank does not answer";
    }
    if (all.refuses != 0) return "the engine cannot do it at one of its ranks";
    if (all.wanted == 0) return "its ranks are on one node";
    if (all.partial != 0) return "the first window for the engine must be of all ranks";
    layer.station.set_up(comm, window->members, met.far);
  }
}

// Returns the world ranks of a communicator; empty if the engine cannot know them all.
std::vector<int> members_of(MPI_Comm comm) {
  context_start();
  if (comm == MPI_COMM_NULL) return {};  // an error, which the host reports
  int inter = 0;
  if (next.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return {};
  return context.world.members(comm);
}

// Opens the window, and waits for what the others of the node publish about it: all of them do.
rma::Window* open_window(const Part& part, const Agreed& agreed) {
  Station& station = engine_layer().station;
  const EngineWindow::Shape& shape = part.shape;
  const auto size = static_cast<uint64_t>(shape.size);
  rma::Memory memory = shape.flavor == MPI_WIN_FLAVOR_DYNAMIC ? rma::Memory::dynamic()
                       : shape.flavor == MPI_WIN_FLAVOR_CREATE
                           ? rma::Memory::brought(shape.base, size, shape.unit)
                           : rma::Memory::fixed(shape.base, size, shape.unit);
  rma::Window* window = nullptr;
  {
    const rma::Agent::Lock lock(&station.agent());
    window = station.engine().open(agreed.id, rma::Members(agreed.members), std::move(memory),
                                   agreed.shares ? station.node() : nullptr);
    station.engine().end_opening();
  }
  station.agent().wait(&window->bell(), [&] {
    const rma::Agent::Lock lock(&station.agent());
    return window->find_nears() || window->broken();
  });
  return window;
}

bool sees_all_calls() {
  std::string why;
  if (calls_on_windows_are_visible(&why)) return true;
  log(LogLevel::info, "rank %d cannot use the RMA engine: %s", context.rank, why.c_str());
  return false;
}

// Creates the window, or lets the host do so. `make` makes this rank's part.
template <class Host, class Make>
int create_window(MPI_Comm comm, MPI_Info info, MPI_Win* win, Host host, Make make) {
  EngineLayer& layer = engine_layer();
  Part part;
  Hints hints;
  hints.take(info);
  Agreed agreed{.members = members_of(comm)};
  std::string why = "its communicator reaches beyond the ranks that were started together";
  if (!agreed.members.empty()) {
    context.devices.look();
    const auto make_part = [&](Part* own) {
      return !context.devices.present() && sees_all_calls() && make(own);
    };
    why = agree_on_engine(comm, make_part, &part, &agreed);
  }
  if (!why.empty()) {
    give_back(&part);
    log(LogLevel::info, "a window does not use the RMA engine: %s", why.c_str());
    return host();
  }
  MPI_Group group = MPI_GROUP_NULL;
  next.Comm_group(comm, &group);
  rma::Window* const window = open_window(part, agreed);
  layer.windows.add(handle_bits(part.handle),
                    new EngineWindow(&layer.station, part.handle, group, window, part.shape,
                                     part.shared, std::move(hints)));
  *win = part.handle;
  log(LogLevel::info,
      "a window uses the RMA engine; this rank reaches the memory of %zu of %d ranks",
      window->reached_nears(), window->members().size());
  return MPI_SUCCESS;
}

bool valid_unit(MPI_Aint size, MPI_Aint unit) { return size >= 0 && unit > 0 && unit <= INT32_MAX; }

// The requested alignment of allocated memory in bytes; 1 if there is no request. How hosts
// interpret the key varies.
uint64_t asked_alignment(MPI_Info info) {
  constexpr uint64_t most = uint64_t{1} << 30;
  const auto value = info_value(info, "mpi_minimum_memory_alignment");
  if (!value) return 1;
  const uint64_t asked = std::strtoull(value->c_str(), nullptr, 10);
  return std::has_single_bit(asked) && asked <= most ? asked : 1;
}

void* align(void* address, uint64_t alignment) {
  const auto at = reinterpret_cast<uint64_t>(address);
  return reinterpret_cast<void*>(round_up(at, alignment));
}

// Makes a handle for a window that needs no memory of the host.
bool make_mere_handle(MPI_Info info, MPI_Win* handle) {
  void* unused = nullptr;
  return engine_layer().handles.make(8, 1, info, &unused, handle);
}

template <class Host>
int engine_Win_create(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win* win, Host host) {
  return create_window(comm, info, win, host, [&](Part* part) {
    part->shape = {base, size, static_cast<int>(unit), MPI_WIN_FLAVOR_CREATE};
    return valid_unit(size, unit) && make_mere_handle(info, &part->handle);
  });
}

template <class Host>
int engine_Win_allocate(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                        MPI_Win* win, Host host) {
  void* base = nullptr;
  const uint64_t alignment = asked_alignment(info);
  const auto make = [&](Part* part) {
    if (!valid_unit(size, unit) || size > PTRDIFF_MAX / 2) return false;
    const MPI_Aint room = size + static_cast<MPI_Aint>(alignment) - 1;
    Station& station = engine_layer().station;
    {
      const rma::Agent::Lock lock(&station.agent());
      if (station.node() != nullptr)
        part->shared = station.node()->take(static_cast<uint64_t>(room));
    }
    base = part->shared;
    const bool made = base != nullptr ? make_mere_handle(info, &part->handle)
                                      : engine_layer().handles.make(room, static_cast<int>(unit),
                                                                    info, &base, &part->handle);
    base = align(base, alignment);
    part->shape = {base, size, static_cast<int>(unit), MPI_WIN_FLAVOR_ALLOCATE};
    return made;
  };
  bool by_host = false;
  const int rc = create_window(
      comm, info, win, [&] { return by_host = true, host(); }, make);
  if (!by_host) *static_cast<void**>(baseptr) = base;
  return rc;
}

template <class Host>
int engine_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win, Host host) {
  return create_window(comm, info, win, host, [&](Part* part) {
    part->shape = {MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC};
    return make_mere_handle(info, &part->handle);
  });
}

int engine_Win_free(EngineWindow* window, MPI_Win* win) {
  if (const int rc = window->leave(); rc != MPI_SUCCESS) return window->report(rc);
  EngineLayer& layer = engine_layer();
  const uint64_t bits = handle_bits(*win);
  layer.leaving.add(bits, window);
  layer.windows.remove(bits);
  rma_look_again();
  const int rc = layer.handles.free(win, [&] { layer.leaving.remove(bits); });
  if (rc != MPI_SUCCESS && *win != MPI_WIN_NULL) {  // it remains a window
    layer.windows.add(bits, window);
    rma_look_again();
    return rc;
  }
  window->close();
  Part part{.shared = window->shared()};
  give_back(&part);
  delete window;
  return rc;
}

#include "rma_layer.inc"

bool is_on_top() { return next.Win_lock == engine_does_Win_lock; }

}  // namespace

Fetches& engine_fetches() { return engine_layer().fetches; }
const RmaNext& below_engine() { return engine_layer().layer.below; }

void rma_install([[maybe_unused]] RmaUse use) {
#ifdef NEARCACHE_FAMILY_SIMGRID
  if (use != RmaUse::off)
    log(LogLevel::warning,
        "rma: SimGrid's ranks are threads of one process: the RMA engine is off");
#else
  if (use == RmaUse::off || the_layer != nullptr) return;
  the_layer = new EngineLayer;
  EngineLayer& layer = engine_layer();
  layer.use = use;
  context.world.offer_engine(kind_of_engine());
  allow_blocks(1 << 24);  // 256 MiB of runs
  install(&layer.layer);
  if (World::model_is_open()) layer.handles.begin();
#endif
}

void rma_threads_come() { rma_look_again(); }

// With several threads there never is a recent window, so nothing is written.
void rma_look_again() {
  if (recent.window == nullptr) return;
  recent = {};
  forget_straight();
}

bool rma_has(MPI_Win handle) {
  return the_layer != nullptr && engine_layer().windows.find(handle_bits(handle)) != nullptr;
}

void rma_stop(bool mpi_goes_on) {
  if (the_layer == nullptr) return;
  engine_layer().station.stop(!engine_layer().windows.all().empty(), mpi_goes_on);
  engine_layer().handles.end();
}

}  // namespace nearcache::mpi
