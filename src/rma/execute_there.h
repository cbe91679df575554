// What execute.h does, on memory that is another process' (net/process_memory.h): the kernel copies
// it. Accumulates read, compute here and write back under the window's lock for elements, as all do
// who execute some on that memory.
#pragma once

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "net/process_memory.h"
#include "rma/execute.h"

namespace nearcache::rma {

// Calls `copy` with so many runs as one call of the kernel takes, `most` bytes together, until it
// does not copy them all.
template <class EachRun, class Copy>
net::Reached in_portions(uint64_t most, EachRun each_run, Copy copy) {
  std::array<iovec, 256> runs;
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

// One portion of an accumulate, of `bytes`; under the lock for elements.
inline net::Reached compute_there(const Action& action, pid_t there, std::span<iovec> runs,
                                  std::span<iovec> again, uint64_t bytes, std::byte* buffer) {
  const net::Reached read = net::read_process(there, buffer, runs);
  if (read != net::Reached::all) return read;
  if (action.result != nullptr) std::memcpy(action.result, buffer, bytes);
  if (action.kind == Kind::compare_and_swap) {
    if (std::memcmp(buffer, action.data + bytes, bytes) != 0) return read;
    return net::write_process(there, action.data, again);
  }
  if (action.operation == Operation::no_op) return read;
  apply(action.operation, action.element, buffer, action.data, bytes / size_of(action.element));
  return net::write_process(there, buffer, again);
}

// Which was checked; `all_bytes` is what its runs have together. `refused`: nothing has happened.
template <class EachRun>
net::Reached execute_there(Action action, pid_t there, uint64_t all_bytes, Mutex* elements,
                           uint32_t process, EachRun each_run) {
  if (action.kind == Kind::put || action.kind == Kind::get) {
    return in_portions(UINT64_MAX, each_run, [&](std::span<iovec> runs, uint64_t bytes) {
      if (action.kind == Kind::get) {
        const net::Reached reached = net::read_process(there, action.result, runs);
        action.result += bytes;
        return reached;
      }
      const net::Reached reached = net::write_process(there, action.data, runs);
      action.data += bytes;
      return reached;
    });
  }
  const uint64_t size = action.kind == Kind::compare_and_swap ? 1 : size_of(action.element),
                 most = most_at_a_time / size * size;
  std::vector<std::byte> buffer(std::min(all_bytes, most));
  std::vector<iovec> again;
  bool any = false;
  if (action.kind == Kind::accumulate) action.result = nullptr;
  return in_portions(most, each_run, [&](std::span<iovec> runs, uint64_t bytes) {
    again.assign(runs.begin(), runs.end());
    elements->lock(process);
    net::Reached reached = compute_there(action, there, runs, again, bytes, buffer.data());
    elements->unlock();
    // What was done must not be done again by another way.
    if (reached == net::Reached::refused && any) reached = net::Reached::unmapped;
    any = true;
    if (action.result != nullptr) action.result += bytes;
    if (action.operation != Operation::no_op) action.data += bytes;
    return reached;
  });
}

}  // namespace nearcache::rma
