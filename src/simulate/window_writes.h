// SPDX-License-Identifier: BSD-3-Clause

// Collects the writes of windows from the traces of all ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/rank.h"
#include "simulate/written_pages.h"

namespace nearcache::simulate {

// All ranks' writes to one window, and the time span in which it was read.
struct WindowWrites {
  std::vector<TimedWrite> writes;
  uint64_t first_get = UINT64_MAX, last_get = 0;
};

// Returns true for calls that complete puts. A put ends at the first time known to the trace after
// such a call.
inline bool completes(TraceSync kind) {
  switch (kind) {
    case TraceSync::fence:
    case TraceSync::unlock:
    case TraceSync::unlock_all:
    case TraceSync::flush:
    case TraceSync::complete:
      return true;
    default:
      return false;
  }
}

// Collects, while walking through a rank's trace, its writes and when it reads.
class WriteCollector {
 public:
  // `windows`: by window of the trace; null if not wanted.
  WriteCollector(const RankTrace& trace, std::vector<WindowWrites*> windows)
      : trace_(trace), windows_(std::move(windows)), open_(windows_.size()) {}

  void event(const TraceEvent& event) {
    const uint64_t now = trace_.header.start_ns + event.ns;
    if (now > now_) close(now);
    now_ = now;
    WindowWrites* shared = event.window < windows_.size() ? windows_[event.window] : nullptr;
    if (event.kind == TraceKind::sync && event.window < open_.size() &&
        completes(static_cast<TraceSync>(event.detail)))
      open_[event.window].completed = open_[event.window].writes.size();
    if (shared == nullptr) return;
    const uint32_t self = trace_.windows[event.window].rank;
    if (event.kind == TraceKind::get && event.target != self) {
      shared->first_get = std::min(shared->first_get, now);
      open_[event.window].read = true;
    }
    if (event.kind == TraceKind::write) {
      open_[event.window].writes.push_back(shared->writes.size());
      shared->writes.push_back({event.target, self, event.from, event.to, now, UINT64_MAX, false});
    }
    if (event.kind == TraceKind::owner_write) {
      const auto end = event.displacement + static_cast<int64_t>(event.bytes);
      shared->writes.push_back(
          {self, self, event.displacement, end, now - std::min(now, event.value), now, true});
    }
  }

 private:
  struct Open {
    std::vector<size_t> writes;
    size_t completed = 0;  // number of leading writes that have been completed
    bool read = false;     // since the last known time
  };

  void close(uint64_t now) {
    for (size_t at = 0; at < open_.size(); ++at) {
      Open& open = open_[at];
      for (size_t i = 0; i < open.completed; ++i) windows_[at]->writes[open.writes[i]].until = now;
      open.writes.erase(open.writes.begin(),
                        open.writes.begin() + static_cast<ptrdiff_t>(open.completed));
      open.completed = 0;
      if (open.read) windows_[at]->last_get = std::max(windows_[at]->last_get, now);
      open.read = false;
    }
  }

  const RankTrace& trace_;
  const std::vector<WindowWrites*> windows_;
  std::vector<Open> open_;
  uint64_t now_ = 0;
};

}  // namespace nearcache::simulate
