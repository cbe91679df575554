// SPDX-License-Identifier: BSD-3-Clause

// The shards of a shared cache as hits read them: without a lock, and without any line of memory
// but those of what is found. All shards have the same layout and are contiguous, so addresses are
// computed; the size of each index is remembered from the last time it was asked for.
#pragma once

#include <array>
#include <cstdint>

#include "cache/shared/shard.h"

namespace nearcache {

class ShardView {
 public:
  static constexpr uint32_t most_shards = 64;

  ShardView(const std::byte* first, uint64_t shard_bytes, const GetCache::Geometry& geometry)
      : first_(first), shard_bytes_(shard_bytes), places_(Shard::places_in(geometry)) {}

  // Finds an entry with this key and at least this many bytes. May miss it if the index has changed
  // its size.
  [[gnu::always_inline]] bool find(uint64_t shard, uint64_t hash, const Key& key, uint64_t bytes,
                                   Shard::Found* found) const {
    const std::byte* const memory = first_ + shard * shard_bytes_;
    const auto* const published =
        reinterpret_cast<const PublishedEntry*>(memory + places_.published);
    // captures stay in registers when everything is inlined into one function
    const auto look = [&](EntryId id) __attribute__((always_inline)) {
      if (id >= places_.most_entries || !Shard::read(memory, published[id], found)) return false;
      found->id = id;
      return found->said.key == key && bytes <= found->said.size;
    };
    return Index::look_up(memory + places_.index, buckets_[shard], hash, look);
  }

  // Updates the known size of an index. Returns false if it was known already.
  bool learn(uint64_t shard, uint64_t buckets) {
    if (buckets_[shard] == buckets) return false;
    buckets_[shard] = static_cast<uint32_t>(buckets);
    return true;
  }

 private:
  const std::byte* first_;
  uint64_t shard_bytes_;
  Shard::Places places_;
  std::array<uint32_t, most_shards> buckets_{};
};

}  // namespace nearcache
