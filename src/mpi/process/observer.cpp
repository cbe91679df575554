// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/observer.h"

#include <algorithm>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "mpi/process/context.h"
#include "mpi/process/network_model.h"
#include "mpi/process/report_gather.h"
#include "telemetry/report_file.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {

inline OptionalLock Observer::locked() {
  return OptionalLock(context.threaded ? &mutex_ : nullptr);
}

void Observer::start() {
  if (report_is_file(context.options.report)) {
    profile_ = std::make_unique<Profile>();
    profiling_ = true;
  }
  if (context.options.trace.empty()) return;
  const TraceOrigin origin{static_cast<uint32_t>(context.rank),
                           static_cast<uint32_t>(context.ranks),
                           host_name(),
                           program_name(),
                           library_line(),
                           network_model_label()};
  tracing_ = trace_.start(context.options.trace, origin);
  only_tracing_ = tracing_ && !profiling_ && !context.threaded;
}

void Observer::stop() {
  if (!tracing_) return;
  {
    const OptionalLock lock = locked();
    look_at_all();
  }
  close();
}

void Observer::close() {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  tracing_ = only_tracing_ = false;
  trace_.stop("rank", context.rank);
}

bool Observer::get(const ObservedGet& get) {
  const OptionalLock lock = locked();
  if (tracing_) {
    const auto window = static_cast<uint64_t>(get.window);
    if (get.layout == 0) {
      trace_.get(window, get.outcome, get.target, get.displacement, get.bytes);
    } else {
      trace_.get(window, get.outcome, get.target, get.displacement, get.bytes, get.layout,
                 get.lowest, get.span);
    }
  }
  if (!profiling_ || get.own || get.outcome == Outcome::uncached) return false;
  const uint64_t key = get.hash + static_cast<uint64_t>(get.window) * 0x9e3779b97f4a7c15u;
  if (get.of_another) profile_->hit_of_another();
  const bool due = profile_->get(get.outcome, get.target, get.bytes, get.from_cache, key);
  if (due) profile_->tick(system_ns() - context.started_ns);
  return due;
}

void Observer::levels(const ProfileLevels& before, const ProfileLevels& now) {
  const OptionalLock lock = locked();
  if (profiling_) profile_->level(before, now);
}

void Observer::adapted(const Profile::Adaptation& adaptation) {
  const OptionalLock lock = locked();
  if (profiling_) profile_->adapted(adaptation);
}

void Observer::sync(int64_t window, TraceSync kind, int target) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.sync(static_cast<uint64_t>(window), kind, target);
}

void Observer::acquire() {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.acquire();
}

void Observer::write(int64_t window, TraceWrite kind, int target, int64_t from, int64_t to) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.write(static_cast<uint64_t>(window), kind, static_cast<uint32_t>(target), from,
               static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

void Observer::cost(uint64_t bytes, double ns) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.cost(bytes, ns > 0 ? static_cast<uint64_t>(ns) : 0);
}

void Observer::window_mode(int64_t window, uint8_t mode) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.window_mode(static_cast<uint64_t>(window), mode);
}

void Observer::window_created(const TracedWindow& window, const void* base) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  trace_.window_created(window);
  if (base == nullptr || window.own_bytes == 0 || !context.options.trace_writes) return;
  const int range = context.coherence.tracker()->watch(base, window.own_bytes);
  watched_.push_back({static_cast<int64_t>(window.id), range, system_ns()});
  log(LogLevel::info, "window %s: own writes are found by %s",
      window_label(watched_.back().window).c_str(), context.coherence.tracker()->means(range));
}

void Observer::window_closing(int64_t window) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  for (Watched& watched : watched_) {
    if (watched.window == window) look_at(watched);
  }
  unwatch(window);
}

void Observer::window_freed(int64_t window) {
  if (!tracing_) return;
  const OptionalLock lock = locked();
  unwatch(window);
  trace_.window_freed(static_cast<uint64_t>(window));
}

void Observer::unwatch(int64_t window) {
  const auto it = std::ranges::find(watched_, window, &Watched::window);
  if (it == watched_.end()) return;
  context.coherence.tracker()->unwatch(it->range);
  watched_.erase(it);
}

// Skipping a look widens the interval in which a write may have been made, but never hides the
// write. Beyond the first second spent on looks, they take at most a third of the run.
void Observer::look() {
  constexpr uint64_t free_ns = 1000000000;
  const OptionalLock lock = locked();
  const uint64_t before = system_ns();
  if (looks_took_ns_ < free_ns + (before - context.started_ns) / 3) {
    look_at_all();
    looks_took_ns_ += system_ns() - before;
  }
  trace_.mark();
}

void Observer::look_at_all() {
  for (Watched& watched : watched_) look_at(watched);
}

void Observer::look_at(Watched& watched) {
  runs_.clear();
  context.coherence.tracker()->look(watched.range, &runs_);
  const uint64_t now = system_ns();
  for (const WriteTracker::Run& run : runs_)
    trace_.owner_write(static_cast<uint64_t>(watched.window), run.first, run.bytes,
                       now - watched.looked_ns);
  watched.looked_ns = now;
}

}  // namespace nearcache::mpi
