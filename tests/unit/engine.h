// A get cache with its region, and the few lines of a front end that all tests of it need.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/region.h"
#include "cache/get/get_cache.h"

namespace nearcache::test {

struct Engine {
  explicit Engine(GetCacheSettings settings, GetCache::Geometry geometry = {0, 0}) {
    if (geometry.most_index == 0) geometry = {settings.index_capacity, settings.storage_bytes};
    EXPECT_TRUE(region.reserve(GetCache::region_bytes(geometry)));
    cache = GetCache::create(region.base(), geometry, settings);
    cache->set_costs(1900, 0.17);
  }

  // The expected byte `i` of a target's memory. It depends on the address, so a wrong copy shows.
  static std::byte content(uint32_t target, int64_t at) {
    return static_cast<std::byte>((static_cast<uint64_t>(at) * 0x9e3779b97f4a7c15u >> 56) +
                                  target * 31);
  }

  GetCache::Lookup lookup(const Key& key, uint64_t bytes) {
    return cache->lookup(hash_key(key), key, bytes, key.displacement,
                         key.displacement + static_cast<int64_t>(bytes));
  }
  GetCache::Inserted insert(const Key& key, uint64_t bytes, uint32_t token = 1) {
    return cache->insert(hash_key(key), key, bytes, token);
  }
  void arrive(EntryId id, uint64_t bytes) {
    if (!cache->keeps(id)) return cache->abandon(id, cache->writes().now());
    const Key key = cache->entry(id).key();
    for (uint64_t i = 0; i < bytes; ++i)
      cache->data(id)[i] = content(key.target, key.displacement + static_cast<int64_t>(i));
    cache->complete(id, bytes, cache->writes().now());
  }
  bool holds_content(EntryId id, uint64_t bytes) const {
    const Key key = cache->entry(id).key();
    for (uint64_t i = 0; i < bytes; ++i) {
      if (cache->data(id)[i] != content(key.target, key.displacement + static_cast<int64_t>(i)))
        return false;
    }
    return true;
  }

  // Performs one whole get, served or fetched at once. Returns whether it was a hit.
  bool get(const Key& key, uint64_t bytes) {
    const auto found = lookup(key, bytes);
    if (found.found == GetCache::Found::full) {
      EXPECT_TRUE(holds_content(found.entry, bytes));
      return true;
    }
    if (found.found == GetCache::Found::none) {
      const auto inserted = insert(key, bytes);
      if (inserted.entry != no_entry) arrive(inserted.entry, bytes);
    }
    return false;
  }

  Region region;
  GetCache* cache = nullptr;
};

inline GetCacheSettings sized(uint64_t index, uint64_t storage,
                              PolicyKind policy = PolicyKind::rate) {
  GetCacheSettings settings;
  settings.index_capacity = index;
  settings.storage_bytes = storage;
  settings.policy = policy;
  return settings;
}

inline constexpr PolicyKind all_policies[] = {PolicyKind::rate,
                                              PolicyKind::clampi,
                                              PolicyKind::clampi_temporal,
                                              PolicyKind::clampi_positional,
                                              PolicyKind::lru,
                                              PolicyKind::sieve,
                                              PolicyKind::tinylfu};

}  // namespace nearcache::test
