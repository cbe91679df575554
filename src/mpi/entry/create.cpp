// SPDX-License-Identifier: BSD-3-Clause

// Creation and freeing of windows: decides which windows are cached, and how.
#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "mpi/entry/agreement.h"
#include "mpi/entry/create.h"
#include "mpi/entry/hooks.h"
#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/rma/layer.h"
#include "mpi/window/requests.h"
#include "mpi/window/sharing.h"
#include "mpi/window/window.h"
#include "mpi/window/window_info.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {
namespace {

// Moves the window's counters to the totals of freed windows, atomically: no observer sees them
// twice or not at all.
void remember_freed(MPI_Win handle, Window* window) {
  // a program that creates windows by the thousand does not need a line for each
  constexpr size_t most_remembered = 1000;
  WindowReport report = window->report();
  const std::lock_guard lock(context.mutex);
  Counters sums = report.counters;
  sums.clear_gauges();  // gauges at the end describe the window, not the process
  context.windows.remove(handle);
  context.freed += sums;
  if (context.freed_windows.size() < most_remembered)
    context.freed_windows.push_back(std::move(report));
}

// The report has one row per reason, with an id that no window can have.
void remember_left_alone(const std::string& reason) {
  const std::lock_guard lock(context.mutex);
  int64_t id = -1;
  for (const WindowReport& row : context.freed_windows) {
    if (row.id < 0 && row.bypass == reason) return;
    id = std::min(id, row.id - 1);
  }
  WindowReport row;
  row.id = id;
  row.mode = mode_name(Mode::off);
  row.bypass = reason;
  context.freed_windows.insert(context.freed_windows.begin(), std::move(row));
}

// Runs when MPI deletes the window's attributes, however the window is freed, even by a call that
// escapes us.
int forget_window(MPI_Win handle, int, void* attribute, void*) {
  auto* window = static_cast<Window*>(attribute);
  if (window == nullptr) return MPI_SUCCESS;
  context.coherence.no_longer_exposes(handle);
  if (context.last_window == window) context.last_window = nullptr;
  requests_forget(window);
  remember_freed(handle, window);
  context.observer.window_freed(window->identity().id);
  {
    const WindowLock lock(window->mutex());
    window->retire();
  }
  context.windows.bury(window);
  return MPI_SUCCESS;
}

int copy_nothing(MPI_Win, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int window_keyval() {
  const std::lock_guard lock(context.mutex);
  if (context.window_keyval == MPI_KEYVAL_INVALID)
    next.Win_create_keyval(copy_nothing, forget_window, &context.window_keyval, nullptr);
  return context.window_keyval;
}

void tell_of_creation(const Window& window, const Creation::Exposed& memory) {
  const WindowIdentity& identity = window.identity();
  TracedWindow traced;
  traced.id = static_cast<uint64_t>(identity.id);
  traced.rank = static_cast<uint32_t>(identity.rank);
  traced.ranks = static_cast<uint32_t>(identity.ranks);
  traced.own_bytes = memory.bytes > 0 ? static_cast<uint64_t>(memory.bytes) : 0;
  traced.unit = static_cast<uint64_t>(identity.unit);
  traced.mode = static_cast<uint8_t>(window.mode());
  context.observer.window_created(traced, memory.base);
}

// From now on, windows created before a driver was loaded check for device memory, too. The RMA
// engine may have found it first.
void look_for_devices() {
  static std::atomic<bool> known{false};
  context.devices.look();
  if (!context.devices.present() || known.exchange(true)) return;
  for (Window* window : context.windows.all()) window->leave_short_ways();
}

// Sets up a cache with others of the node if `some` of the ranks want one; all ranks take part in
// the agreement on who does then.
void share(Window* window, MPI_Comm comm, const Options& options, bool some) {
  std::string why_not;
  std::unique_ptr<SharedCache> shared;
  if (some) {
    shared = share_with_node(comm, options, window->identity(), &why_not);
  } else {
    why_not = why_not_shared(options.share, window->identity());
    if (why_not.empty()) why_not = alone_on_node;
  }
  if (!why_not.empty())
    log(LogLevel::info, "window %s is not shared by this rank: %s",
        window_label(window->identity().id).c_str(), why_not.c_str());
  window->share(std::move(shared), why_not);
}

const char* text_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::shared_window:
      return "a shared-memory window: its targets are loads and stores away";
    case Obstacle::none:
      break;
  }
  return "";
}

}  // namespace

// Other ranks may use the window before this one has returned from its creation, with which nothing
// need be done at a target. They may write to memory that an older window has, too.
void will_expose(const void* base, MPI_Aint bytes) {
  if (bytes > 0) context.coherence.will_expose(base, static_cast<uint64_t>(bytes));
}

void adopt(MPI_Win handle, const Creation& creation) {
  context_start();
  WindowIdentity identity;
  identity.handle = handle;
  identity.dynamic = creation.dynamic;
  identity.by_engine = rma_has(handle);
  Options options = context.options;
  const bool awaits_invalidate =
      !read_info(creation.info, &options) && options.mode == Mode::user && !context.invalidates;
  const bool may_share = options.share != ShareUse::off && options.mode != Mode::off &&
                         creation.obstacle == Obstacle::none;
  Settled settled;
  settled.shares = may_share;
  settled.coherent.wanted = options.mode == Mode::coherent;
  const std::string reason = settle(creation, options.share, &identity, &settled);
  const auto bytes = static_cast<uint64_t>(std::max<MPI_Aint>(creation.memory.bytes, 0));
  if (!reason.empty()) {
    context.coherence.exposes(handle, nullptr, creation.memory.base, bytes, nullptr);
    remember_left_alone(reason);
    context.phases.never_again();
    return log(LogLevel::info, "a window is left alone: %s", reason.c_str());
  }
  look_for_devices();
  if (awaits_invalidate) options.mode = Mode::transparent;
  if (creation.obstacle == Obstacle::none)
    log(LogLevel::info, "window %s: mode %s", window_label(identity.id).c_str(),
        mode_name(options.mode));
  auto* window = new Window(std::move(identity), options, text_of(creation.obstacle));
  if (settled.shares || (may_share && options.share == ShareUse::node))
    share(window, creation.comm, options, settled.shares);
  const int keyval = window_keyval();
  if (keyval == MPI_KEYVAL_INVALID || next.Win_set_attr(handle, keyval, window) != MPI_SUCCESS) {
    window->retire();
    delete window;
    context.coherence.exposes(handle, nullptr, creation.memory.base, bytes, nullptr);
    return;
  }
  const CoherenceAgreed& coherent = settled.coherent;
  window->is_not_coherent_as(coherent.why_not);
  if (settled.board != nullptr) {
    settled.board->take(coherent.slot);
    window->become_coherent(settled.board, coherent.slot, nearcache::Regions(coherent.most_bytes),
                            {creation.memory.base, bytes});
  }
  context.coherence.exposes(handle, window->coherent(), creation.memory.base, bytes,
                            window->identity().changed_unseen);
  if (awaits_invalidate) {
    window->await_invalidate();
    context.invalidate_was_awaited = true;
  }
  context.windows.add(handle, window);
  rma_look_again();
  if (awaits_invalidate && context.invalidates) {  // called in the meantime
    const WindowLock lock(window->mutex());
    window->program_invalidates();
  }
  if (window->observed()) tell_of_creation(*window, creation.memory);
}

// This rank attached or detached memory of a dynamic window. Ranks mostly do that together, after
// which the same addresses mean other memory.
static void memory_changes(MPI_Win handle) {
  Window* window = context.windows.find(handle);
  if (window == nullptr) return;
  const WindowLock lock(window->mutex());
  window->invalidate();
}

// The program may have obtained an address of others' memory (in MPI-4.1 also for windows created
// by MPI_Win_allocate), which it loads from and stores to from now on. Fails if a deferred lock
// that covers such accesses cannot be taken.
static int reaches_by_stores(MPI_Win handle, int rank, const void* base) {
  Window* window = context.windows.find(handle);
  if (window == nullptr || rank == window->identity().rank || base == nullptr) return MPI_SUCCESS;
  {
    const WindowLock lock(window->mutex());
    window->defer_no_locks();
  }
  int rc = MPI_SUCCESS;
  const auto ranks = static_cast<uint32_t>(window->identity().ranks);
  // one by one: locks of other threads, too
  for (uint32_t target = 0; target < ranks && rc == MPI_SUCCESS && window->locks_deferred();
       ++target)
    rc = window->confirm_served(nearcache::Targets::one(target));
  if (window->coherent() == nullptr) return rc;
  const nearcache::OptionalLock lock(context.threaded ? &context.coherence.mutex() : nullptr);
  for (int target = 0; target < window->identity().ranks; ++target) {
    if (target == rank || rank == MPI_PROC_NULL)
      window->coherent()->never_again(static_cast<uint32_t>(target));
  }
  return rc;
}

}  // namespace nearcache::mpi

using namespace nearcache::mpi;

extern "C" {

int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  note_window_release();
  const int rc = next.Win_attach(win, base, size);
  if (rc == MPI_SUCCESS)
    context.coherence.exposes(win, nullptr, base, static_cast<uint64_t>(size), nullptr);
  memory_changes(win);
  return rc;
}

int MPI_Win_detach(MPI_Win win, const void* base) {
  note_window_release();
  const int rc = next.Win_detach(win, base);
  if (rc == MPI_SUCCESS) context.coherence.detached(win, base);
  memory_changes(win);
  return rc;
}

int MPI_Win_free(MPI_Win* win) {
  note_window_release();
  Board* board = nullptr;
  uint32_t slot = 0;
  if (Window* window = win != nullptr ? context.windows.find(*win) : nullptr; window != nullptr) {
    context.observer.window_closing(window->identity().id);
    if (window->coherent() != nullptr) {
      board = &window->coherent()->board();
      slot = window->coherent()->slot();
      window->coherent()->end();
    }
  }
  const MPI_Win handle = win != nullptr ? *win : MPI_WIN_NULL;
  // Gets of an active epoch that no call seen by us completed are complete now; they are not worth
  // keeping.
  const int rc = next.Win_free(win);
  const bool freed = rc == MPI_SUCCESS && !was_created(win);  // see create.h
  // for windows without our attribute
  if (freed) context.coherence.no_longer_exposes(handle);
  // all ranks have entered, and have sent what they had to send
  if (board != nullptr && freed) board->give_back(slot);
  context.acquire();
  return rc;
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  const int rc = next.Win_shared_query(win, rank, size, disp_unit, baseptr);
  return rc == MPI_SUCCESS ? reaches_by_stores(win, rank, *static_cast<void**>(baseptr)) : rc;
}

#ifdef NEARCACHE_HAS_Win_shared_query_c
int MPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit,
                           void* baseptr) {
  const int rc = next.Win_shared_query_c(win, rank, size, disp_unit, baseptr);
  return rc == MPI_SUCCESS ? reaches_by_stores(win, rank, *static_cast<void**>(baseptr)) : rc;
}
#endif

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
  note_window_release();
  int rc = next.Win_set_info(win, info);
  Window* window = context.windows.find(win);
  if (window != nullptr && rc == MPI_SUCCESS) {
    rc = window->confirm_served(nearcache::Targets::all());
    const WindowLock lock(window->mutex());
    nearcache::Options options = window->options();
    if (read_info(info, &options)) window->mode_is_named();
    window->set_options(options);
    context.observer.window_mode(window->identity().id, static_cast<uint8_t>(window->mode()));
  }
  context.acquire();  // collective
  return rc;
}

}  // extern "C"
