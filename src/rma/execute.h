// SPDX-License-Identifier: BSD-3-Clause

// Executes operations on the memory of a window, for its owner (at the request of others) or for an
// origin that can address the memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>

#include "rma/elements.h"
#include "rma/shared_words.h"
#include "rma/status.h"
#include "rma/wire.h"

namespace nearcache::rma {

struct Action {
  Kind kind;
  Element element;
  Operation operation;
  const std::byte* data;  // as in Transfer
  std::byte* result;
  // Of an accumulate: this many bytes are one element of the program, which others never see in
  // part. If 0, size_of(element).
  uint64_t grain = 0;
};

inline uint64_t grain_of(const Action& action) {
  return action.grain > 0 ? action.grain : size_of(action.element);
}

inline bool computes(Kind kind) { return kind == Kind::accumulate || kind == Kind::fetch; }

// How much of a run of elements must be there: minloc and maxloc do not write what follows the
// index of the last pair. Only these come for pairs from a rank that follows the protocol, as the
// rest goes as bytes.
struct Needed {
  uint64_t tail;
  Needed(Kind kind, Element element, Operation operation)
      : tail(computes(kind) && operation >= Operation::minloc ? tail_of(element) : 0) {}
  uint64_t of(uint64_t length) const { return length > tail ? length - tail : length; }
};

// Checks whether an action can be executed on runs of memory. each_run(f) calls f with each run
// until f returns false; each_run returns false if a run is outside of the window.
template <class EachRun>
Status check(const Action& action, EachRun each_run) {
  if (computes(action.kind) && !has_meaning(action.operation, action.element))
    return Status::bad_operation;
  const size_t size = computes(action.kind) ? size_of(action.element) : 1;
  bool whole = true;
  const bool inside = each_run(
      [&](std::byte*, uint64_t length) { return whole = whole && length % size == 0, true; });
  return !inside ? Status::out_of_range : whole ? Status::ok : Status::bad_operation;
}

// An accumulate excludes others for at most this many bytes at a time, but for at least one grain.
inline constexpr uint64_t most_at_a_time = 64 << 10;
inline uint64_t at_a_time(uint64_t grain) {
  return std::max(most_at_a_time / grain, uint64_t{1}) * grain;
}

// Executes an action that check() has approved. `elements` is the window's mutex, `process` the
// caller's pid. Returns half_done, having done nothing or only a part, if a process has died in the
// middle of an accumulate on this memory: no more accumulates are executed there. Returns nothing,
// having done nothing, if `is_there` returns false; it is called with the mutex held, if that is
// needed.
template <class EachRun, class IsThere>
std::optional<Status> execute_if(const Action& action, Mutex* elements, uint32_t process,
                                 EachRun each_run, IsThere is_there) {
  const std::byte* data = action.data;
  std::byte* result = action.result;
  if (action.kind == Kind::put || action.kind == Kind::get) {
    if (!is_there()) return {};
    each_run([&](std::byte* at, uint64_t length) {
      if (action.kind == Kind::put) {
        std::memcpy(at, data, length), data += length;
      } else {
        std::memcpy(result, at, length), result += length;
      }
      return true;
    });
    return Status::ok;
  }
  const bool computes = action.operation != Operation::no_op;
  const uint64_t size = size_of(action.element), most = at_a_time(grain_of(action));
  const Needed needed(action.kind, action.element, action.operation);
  uint64_t spent = 0;
  bool intact = elements->lock_intact(process);
  if (!intact) return Status::half_done;
  if (!is_there()) return elements->unlock(), std::nullopt;
  each_run([&](std::byte* at, uint64_t length) {
    if (action.kind == Kind::compare_and_swap) {
      std::memcpy(result, at, length);
      if (std::memcmp(at, data + length, length) == 0) std::memcpy(at, data, length);
      return true;
    }
    while (length > 0) {
      if (spent == most) {
        elements->unlock();
        intact = elements->lock_intact(process);
        if (!intact) return false;
        spent = 0;
      }
      const uint64_t now = std::min(length, most - spent);
      if (action.kind == Kind::fetch) std::memcpy(result, at, needed.of(now)), result += now;
      if (computes) apply(action.operation, action.element, at, data, now / size), data += now;
      spent += now;
      at += now;
      length -= now;
    }
    return true;
  });
  if (!intact) return Status::half_done;
  elements->unlock();
  return Status::ok;
}

// For memory that is there in any case.
template <class EachRun>
Status execute(const Action& action, Mutex* elements, uint32_t process, EachRun each_run) {
  return *execute_if(action, elements, process, each_run, [] { return true; });
}

}  // namespace nearcache::rma
