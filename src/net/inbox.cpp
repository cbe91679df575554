// SPDX-License-Identifier: BSD-3-Clause
#include "net/inbox.h"

#include <algorithm>
#include <cstring>

namespace nearcache::net {

void SharedRing::copy_in(uint64_t place, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const uint64_t from = place % sizeof memory, now = std::min(bytes.size(), sizeof memory - from);
  std::memcpy(memory + from, bytes.data(), now);
  if (now < bytes.size()) std::memcpy(memory, bytes.data() + now, bytes.size() - now);
}

void SharedRing::write(uint64_t at, std::span<const std::byte> first,
                       std::span<const std::byte> second, bool more) {
  const uint64_t place = at * line + sizeof(uint64_t);
  copy_in(place, first);
  copy_in(place + first.size(), second);
  word(at).store((first.size() + second.size()) | (more ? goes_on : 0), std::memory_order_release);
}

void SharedRing::take(uint64_t at, uint64_t bytes, std::byte* to) {
  const uint64_t from = (at * line + sizeof(uint64_t)) % sizeof memory,
                 now = std::min(bytes, sizeof memory - from);
  std::memcpy(to, memory + from, now);
  if (now < bytes) std::memcpy(to + now, memory, bytes - now);
  for (uint64_t i = 0; i < lines_of(bytes); ++i) word(at + i).store(0, std::memory_order_relaxed);
}

}  // namespace nearcache::net
