// Creation and freeing of windows: which windows are cached, and how.
#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "mpi/entry/create.h"
#include "mpi/mpi_api.h"
#include "mpi/process/next.h"
#include "mpi/window/requests.h"
#include "mpi/window/visibility.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

std::string info_value(MPI_Info info, const std::string& key, bool* found) {
  char value[MPI_MAX_INFO_VAL + 1] = {};
  int flag = 0;
  *found = info != MPI_INFO_NULL &&
           next.Info_get(info, const_cast<char*>(key.c_str()), MPI_MAX_INFO_VAL, value, &flag) == MPI_SUCCESS && flag != 0;
  return value;
}

// CLaMPI's values, by name or, as programs compiled with its own header have them, by number.
std::string mode_of_clampi(const std::string& value) {
  if (value == "CLAMPI_TRANSPARENT" || value == "1") return "transparent";
  if (value == "CLAMPI_ALWAYS_CACHE" || value == "2") return "always";
  if (value == "CLAMPI_USER_DEFINED" || value == "3") return "user";
  return value;
}

void set_from_info(Options* options, const char* name, const std::string& key, const std::string& value) {
  const std::string wrong = options->set(name, value);
  if (!wrong.empty() && context.rank == 0) log(LogLevel::warning, "info key %s: %s", key.c_str(), wrong.c_str());
}

// Whether it names a mode.
bool read_info(MPI_Info info, Options* options) {
  bool found = false, names_mode = false;
  for (const char* key : {"CLAMPI_MODE", "clampi_mode"}) {
    const std::string value = info_value(info, key, &found);
    if (found) set_from_info(options, "mode", key, mode_of_clampi(value));
    names_mode = names_mode || found;
  }
  for (const OptionRow& row : option_rows()) {
    if (std::strcmp(row.scope, "window") != 0) continue;
    const std::string key = std::string("nearcache_") + row.name;
    const std::string value = info_value(info, key, &found);
    if (found) set_from_info(options, row.name, key, value);
    names_mode = names_mode || (found && std::strcmp(row.name, "mode") == 0);
  }
  return names_mode;
}

// What all ranks of a window must know alike, in one small reduction beside the several that creation makes: the
// largest id any of them would give, whether displacement units differ, whether every rank's calls are visible, how much memory each has at least, and
// whether all can cover the window by phases.
// Empty if all is well, else why the window is to be left alone.
std::string agree(MPI_Comm comm, const Creation& creation, bool visible, WindowIdentity* identity, bool* has_room) {
  Exchange exchange(6, 6);
  const int64_t unit = creation.unit;
  std::vector<uint64_t>& mine = exchange.sent();
  const std::vector<uint64_t>& most = exchange.received();
  {
    const std::lock_guard lock(context.mutex);
    mine[0] = static_cast<uint64_t>(context.next_window_id);
  }
  mine[1] = static_cast<uint64_t>(unit);
  mine[2] = static_cast<uint64_t>(-unit);
  mine[3] = visible ? 0 : 1;
  mine[4] = static_cast<uint64_t>(-static_cast<int64_t>(creation.memory.bytes));
  mine[5] = *has_room ? 0 : 1;
  if (next.Iallreduce(mine.data(), exchange.received().data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_MAX, comm, exchange.request()) != MPI_SUCCESS)
    return "MPI_Iallreduce failed";
  if (!exchange.wait(patience_ns(identity->ranks))) {
    context.world.give_up(std::move(exchange));
    return "another rank does not answer";
  }
  identity->id = static_cast<int64_t>(most[0]);
  identity->least_bytes = creation.dynamic ? 0 : -static_cast<int64_t>(most[4]);
  *has_room = most[5] == 0;
  identity->unit = most[1] == -most[2] && unit > 0 ? unit : 0;
  const std::lock_guard lock(context.mutex);
  context.next_window_id = std::max(context.next_window_id, identity->id + 1);
  return most[3] == 0 ? "" : "another rank's synchronisation is not visible";
}

// Settles what the ranks of a window must know of each other, and lets them tell each other of their writes. Empty, or why the window is to be left alone.
std::string settle(const Creation& creation, WindowIdentity* identity) {
  const MPI_Comm comm = creation.comm;
  std::string invisible;
  const bool visible = creation_is_visible(creation.caller, &invisible);
  next.Comm_rank(comm, &identity->rank);
  next.Comm_size(comm, &identity->ranks);
  const std::vector<int> members = context.world.members(comm);
  if (members.empty()) return "its communicator reaches outside of the ranks that were started together";
  if (context.world.given_up() || !context.world.meet(comm, members, &identity->far, patience_ns(identity->ranks)))
    return "another rank does not answer";
  context_limit_memory();
  bool has_room = context.phases.has_room(members);
  const std::string disagreement = agree(comm, creation, visible, identity, &has_room);
  if (!visible || !disagreement.empty()) return visible ? disagreement : invisible;
  if (has_room)
    context.phases.cover(comm, members);
  else
    context.phases.never_again();
  return "";
}

int forget_window(MPI_Win handle, int, void* attribute, void*);

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

void remember_freed(Window* window) {
  constexpr size_t most_remembered = 1000;  // a program that creates windows by the thousand needs no line for each
  WindowReport report;
  window->fill_counters(&report.counters);
  report.id = static_cast<int>(window->identity().id);
  report.mode = mode_name(window->mode());
  report.policy = policy_name(window->options().policy);
  report.ranks = window->identity().ranks;
  report.bypass = window->obstacle();
  const std::lock_guard lock(context.mutex);
  Counters sums = report.counters;
  sums.clear_gauges();  // the levels at the end are the window's, not the process'
  context.freed += sums;
  if (context.freed_windows.size() < most_remembered) context.freed_windows.push_back(std::move(report));
}

// The report has a row for each reason, with no id that a window could have.
void remember_left_alone(const std::string& reason) {
  const std::lock_guard lock(context.mutex);
  int id = -1;
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

// Runs when MPI deletes the window's attributes: however the window is freed, even by a call that we do not see.
int forget_window(MPI_Win handle, int, void* attribute, void*) {
  auto* window = static_cast<Window*>(attribute);
  if (window == nullptr) return MPI_SUCCESS;
  context.windows.remove(handle);
  if (context.last_window == window) context.last_window = nullptr;
  requests_forget(window);
  remember_freed(window);
  context.observer.window_freed(window->identity().id);
  delete window;
  return MPI_SUCCESS;
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

// Windows that were made before a driver was loaded ask it from now on, too.
void look_for_devices() {
  const bool asked_before = context.devices.present();
  context.devices.look();
  if (asked_before || !context.devices.present()) return;
  for (Window* window : context.windows.all()) window->leave_short_ways();
}

const char* text_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::shared_window: return "a shared-memory window: its targets are loads and stores away";
    case Obstacle::none: break;
  }
  return "";
}

}  // namespace

void adopt(MPI_Win handle, const Creation& creation) {
  context_start();
  WindowIdentity identity;
  identity.handle = handle;
  identity.dynamic = creation.dynamic;
  const std::string reason = settle(creation, &identity);
  if (!reason.empty()) {
    remember_left_alone(reason);
    context.phases.never_again();
    return log(LogLevel::info, "a window is left alone: %s", reason.c_str());
  }
  look_for_devices();
  Options options = context.options;
  const bool awaits_invalidate = !read_info(creation.info, &options) && options.mode == Mode::user && !context.invalidates;
  if (awaits_invalidate) options.mode = Mode::transparent;
  if (creation.obstacle == Obstacle::none)
    log(LogLevel::info, "window %lld: mode %s", static_cast<long long>(identity.id), mode_name(options.mode));
  auto* window = new Window(std::move(identity), options, text_of(creation.obstacle));
  const int keyval = window_keyval();
  if (keyval == MPI_KEYVAL_INVALID || next.Win_set_attr(handle, keyval, window) != MPI_SUCCESS) {
    delete window;
    return;
  }
  if (awaits_invalidate) {
    window->await_invalidate();
    context.invalidate_was_awaited = true;
  }
  context.windows.add(handle, window);
  if (awaits_invalidate && context.invalidates) {  // it came meanwhile
    const WindowLock lock(window->mutex());
    window->program_invalidates();
  }
  if (window->observed()) tell_of_creation(*window, creation.memory);
}

// This rank attached or detached memory of a dynamic window. Ranks do that together, mostly, and then the same addresses mean other memory.
static void memory_changes(MPI_Win handle) {
  Window* window = context.windows.find(handle);
  if (window == nullptr) return;
  const WindowLock lock(window->mutex());
  window->invalidate();
}

}  // namespace nearcache::mpi

using namespace nearcache::mpi;

extern "C" {

int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  context.coherence.release();
  const int rc = next.Win_attach(win, base, size);
  memory_changes(win);
  return rc;
}

int MPI_Win_detach(MPI_Win win, const void* base) {
  context.coherence.release();
  const int rc = next.Win_detach(win, base);
  memory_changes(win);
  return rc;
}

int MPI_Win_free(MPI_Win* win) {
  if (Window* window = win != nullptr ? context.windows.find(*win) : nullptr; window != nullptr) context.observer.window_closing(window->identity().id);
  context.coherence.release();
  // Gets of an active epoch that no call of ours completed are complete now; they are not worth keeping.
  const int rc = next.Win_free(win);
  context.acquire();
  return rc;
}

int MPI_Win_set_info(MPI_Win win, MPI_Info info) {
  context.coherence.release();
  const int rc = next.Win_set_info(win, info);
  Window* window = context.windows.find(win);
  if (window != nullptr && rc == MPI_SUCCESS) {
    window->confirm_served(nearcache::Targets::all());
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
