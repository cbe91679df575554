// A page cache over a lazy transport, and the program's view of memory, against which every access
// is checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "cache/page/page_cache.h"
#include "lazy_transport.h"

namespace nearcache::test {

using Bytes = std::vector<uint8_t>;

inline PageCacheOptions small_cache() {
  PageCacheOptions options;
  options.size = 16 << 10;
  options.page = 1024;
  options.line = 64;
  options.dirty_pages = 4;
  options.readahead = 0;
  options.longest_age_ns = 1e18;  // tests under a sanitizer may take longer
  return options;
}

struct Pages {
  static constexpr uint64_t base = 1 << 20;
  static constexpr int pes = 3;

  explicit Pages(PageCacheOptions options = small_cache(), Laziness laziness = Laziness::late,
                 size_t bytes = 256 << 10, std::vector<Extent> segments = {})
      : size(bytes),
        net(pes, base, bytes,
            segments.empty() ? std::vector<Extent>{{base, base + bytes}} : segments, laziness, 7) {
    EXPECT_TRUE(cache.create(options, &net));
    expected.resize(pes * bytes);
    for (int pe = 0; pe < pes; ++pe) {
      for (size_t i = 0; i < bytes; ++i) expect(i, pe) = net.memory(base + i, pe);
    }
  }
  ~Pages() { sound(); }

  // Checks the invariants and what the transport found wrong; called after every operation.
  void sound() {
    const char* broken = cache.broken();
    EXPECT_EQ(broken, nullptr) << broken;
    EXPECT_EQ(net.wrong(), "");
  }

  uint8_t& expect(size_t at, int pe) { return expected[static_cast<size_t>(pe) * size + at]; }

  Bytes read(size_t at, size_t bytes, int pe = 1) {
    Bytes to(bytes);
    cache.get(pe, base + at, to.data(), bytes);
    sound();
    return to;
  }
  // Reads, and checks that the bytes are what the program expects there.
  void get(size_t at, size_t bytes, int pe = 1) {
    const uint8_t* from = &expect(at, pe);
    EXPECT_EQ(read(at, bytes, pe), Bytes(from, from + bytes)) << "at " << at << " of PE " << pe;
  }
  // Like get(); returns whether no transfer was needed.
  bool served(size_t at, size_t bytes, int pe = 1) {
    const uint64_t calls = net.counts().calls();
    get(at, bytes, pe);
    return net.counts().calls() == calls;
  }
  // Returns how often the program waited for the network during `action`.
  template <class Action>
  uint64_t waits(Action action) {
    const uint64_t before = net.counts().waits();
    action();
    return net.counts().waits() - before;
  }

  void put(size_t at, size_t bytes, int pe = 1) {
    Bytes from(bytes);
    for (size_t i = 0; i < bytes; ++i) {
      value = static_cast<uint8_t>(value * 5 + 77);
      from[i] = value == expect(at + i, pe) ? static_cast<uint8_t>(value + 1) : value;
    }
    if (bytes != 0) std::memcpy(&expect(at, pe), from.data(), bytes);
    net.program_writes(base + at, from.data(), bytes, pe);
    cache.put(pe, base + at, from.data(), bytes);
    net.program_wrote(base + at, bytes, pe);
    std::fill(from.begin(), from.end(), uint8_t{0});
    sound();
  }
  // Stores to memory as its owner, or as another PE.
  void other_writes(size_t at, size_t bytes, int pe = 1) {
    for (size_t i = at; i < at + bytes; ++i) {
      ++net.memory(base + i, pe);
      expect(i, pe) = net.memory(base + i, pe);
    }
  }

  void prefetch(size_t at, size_t bytes, int pe = 1) {
    EXPECT_EQ(waits([&] { cache.prefetch(pe, base + at, bytes); }), 0u) << "a prefetch waits";
    sound();
  }
  void acquire() {
    cache.acquire();
    sound();
  }
  void start_write_back() {
    cache.start_write_back();
    EXPECT_FALSE(cache.dirty());
    EXPECT_FALSE(net.anything_owed());
    sound();
  }
  void release() {
    cache.release();
    sound();
    EXPECT_FALSE(cache.dirty());
    EXPECT_FALSE(cache.in_flight());
    EXPECT_FALSE(net.anything_owed());
    EXPECT_FALSE(net.anything_under_way());
    memory_is_as_expected();
  }
  void quiet() {
    start_write_back();
    net.quiet();
    cache.quieted();
    sound();
    EXPECT_FALSE(cache.in_flight());
  }
  void memory_is_as_expected() {
    for (int pe = 0; pe < pes; ++pe) {
      for (size_t i = 0; i < size; ++i)
        ASSERT_EQ(net.memory(base + i, pe), expect(i, pe)) << "byte " << i << " of PE " << pe;
    }
  }
  // Returns the number of pages with bytes that have not been put yet.
  size_t dirty_pages(size_t page) const {
    size_t pages = 0;
    for (int pe = 0; pe < pes; ++pe) {
      for (size_t start = 0; start < size; start += page) {
        for (size_t i = start; i < start + page; ++i) {
          if (!net.owed(base + i, pe)) continue;
          ++pages;
          break;
        }
      }
    }
    return pages;
  }

  const size_t size;
  LazyTransport net;
  PageCache cache;
  Bytes expected;
  uint8_t value = 1;
};

}  // namespace nearcache::test
