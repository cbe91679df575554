// SPDX-License-Identifier: BSD-3-Clause

// The counterpart of execute.h for memory that only the kernel may touch: another process's
// (net/process_memory.h), or program memory that may have been unmapped (net/detour.h). Accumulates
// read, compute here and write back under the window's mutex for elements, like all accumulates on
// that memory.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "net/detour.h"
#include "net/process_memory.h"
#include "rma/execute.h"

namespace nearcache::rma {

// The most that is passed to one system call.
inline constexpr size_t most_runs = 256;

struct MemoryOf {
  pid_t process;
  static constexpr uint64_t most_bytes = UINT64_MAX;  // to be read or written at a time

  net::Reached read(std::byte* to, std::span<iovec> from, uint64_t) const {
    return net::read_process(process, to, from);
  }
  net::Reached write(const std::byte* from, std::span<iovec> to, uint64_t) const {
    return net::write_process(process, from, to);
  }
};

// Memory of this process.
struct OwnMemory {
  net::Detour* detour;
  static constexpr uint64_t most_bytes = net::Detour::bytes;

  net::Reached read(std::byte* to, std::span<iovec> from, uint64_t bytes) const {
    if (detour->take(from) < bytes) return net::Reached::unmapped;
    std::memcpy(to, detour->buffer(), bytes);
    return net::Reached::all;
  }
  net::Reached write(const std::byte* from, std::span<iovec> to, uint64_t bytes) const {
    std::memcpy(detour->buffer(), from, bytes);
    return detour->give(to) < bytes ? net::Reached::unmapped : net::Reached::all;
  }
};

// Calls copy(runs, bytes) with as many runs as one system call takes, of at most `most` bytes in
// all, until the runs are used up or it fails to copy all of them.
template <class EachRun, class Copy>
net::Reached in_portions(uint64_t most, EachRun each_run, Copy copy) {
  std::array<iovec, most_runs> runs;
  size_t count = 0;
  uint64_t bytes = 0;
  net::Reached reached = net::Reached::all;
  const auto go = [&] {
    if (count > 0) reached = copy(std::span(runs.data(), count), bytes);
    count = 0, bytes = 0;
    return reached == net::Reached::all;
  };
  each_run([&](std::byte* at, uint64_t length) {
    while (length > 0) {
      const uint64_t now = std::min(length, most - bytes);
      runs[count++] = {at, now};
      bytes += now, at += now, length -= now;
      if ((count == runs.size() || bytes == most) && !go()) return false;
    }
    return true;
  });
  if (reached == net::Reached::all) go();
  return reached;
}

// Writes value and index of each pair. The gaps between and behind them may be other objects, which
// somebody may be writing to.
template <class There>
net::Reached write_pairs(const PairParts& parts, size_t size, There there, std::span<iovec> runs,
                         const std::byte* pairs) {
  std::vector<iovec> places;
  std::vector<std::byte> data;
  net::Reached reached = net::Reached::all;
  const auto go = [&] {
    if (!places.empty()) reached = there.write(data.data(), places, data.size());
    places.clear(), data.clear();
  };
  for (const iovec& run : runs) {
    auto* const at = static_cast<std::byte*>(run.iov_base);
    for (size_t pair = 0; pair < run.iov_len; pair += size, pairs += size) {
      places.push_back({at + pair, parts.value_bytes});
      data.insert(data.end(), pairs, pairs + parts.value_bytes);
      places.push_back({at + pair + parts.index_at, parts.index_bytes});
      data.insert(data.end(), pairs + parts.index_at, pairs + parts.end());
      if (places.size() >= most_runs) go();
      if (reached != net::Reached::all) return reached;
    }
  }
  go();
  return reached;
}

// Executes one portion of an accumulate, of `bytes` bytes, under the mutex for elements. `again` is
// a copy of `runs`, which are modified.
template <class There>
net::Reached compute_there(const Action& action, There there, std::span<iovec> runs,
                           std::span<iovec> again, uint64_t bytes, std::byte* buffer) {
  const uint64_t needed = Needed(action.kind, action.element, action.operation).of(bytes);
  runs.back().iov_len -= bytes - needed;
  const net::Reached read = there.read(buffer, runs, needed);
  if (read != net::Reached::all) return read;
  if (action.result != nullptr) std::memcpy(action.result, buffer, bytes);
  if (action.kind == Kind::compare_and_swap) {
    if (std::memcmp(buffer, action.data + bytes, bytes) != 0) return read;
    return there.write(action.data, again, bytes);
  }
  if (action.operation == Operation::no_op) return read;
  apply(action.operation, action.element, buffer, action.data, bytes / size_of(action.element));
  const std::optional<PairParts> parts = gapped_pair(action.element);
  return parts ? write_pairs(*parts, size_of(action.element), there, again, buffer)
               : there.write(buffer, again, bytes);
}

// Executes an action that check() has approved; its runs have `all_bytes` in total. If it returns
// `refused`, nothing was done. Sets `intact` to false in the cases in which execute() returns
// half_done.
template <class There, class EachRun>
net::Reached execute_there(Action action, There there, uint64_t all_bytes, Mutex* elements,
                           uint32_t process, bool* intact, EachRun each_run) {
  if (action.kind == Kind::put || action.kind == Kind::get) {
    return in_portions(There::most_bytes, each_run, [&](std::span<iovec> runs, uint64_t bytes) {
      if (action.kind == Kind::get) {
        const net::Reached reached = there.read(action.result, runs, bytes);
        action.result += bytes;
        return reached;
      }
      const net::Reached reached = there.write(action.data, runs, bytes);
      action.data += bytes;
      return reached;
    });
  }
  const uint64_t grain = action.kind == Kind::compare_and_swap ? all_bytes : grain_of(action);
  const uint64_t most = at_a_time(size_of(action.element));
  uint64_t done = 0;
  std::vector<std::byte> buffer(std::min(all_bytes, most));
  std::vector<iovec> again;
  bool any = false, locked = false;
  if (action.kind == Kind::accumulate) action.result = nullptr;
  const net::Reached end = in_portions(most, each_run, [&](std::span<iovec> runs, uint64_t bytes) {
    again.assign(runs.begin(), runs.end());
    if (!locked) *intact = elements->lock_intact(process);
    if (!*intact) return net::Reached::unmapped;
    net::Reached reached = compute_there(action, there, runs, again, bytes, buffer.data());
    done += bytes;
    locked = reached == net::Reached::all && done < all_bytes && done % grain != 0;
    if (!locked) elements->unlock();
    // What has been done must not be done again by messages.
    if (reached == net::Reached::refused && any) reached = net::Reached::unmapped;
    any = true;
    if (action.result != nullptr) action.result += bytes;
    if (action.operation != Operation::no_op) action.data += bytes;
    return reached;
  });
  if (locked) elements->unlock();
  return end;
}

}  // namespace nearcache::rma
