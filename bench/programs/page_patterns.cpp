// SPDX-License-Identifier: BSD-3-Clause
#include "page_patterns.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace bench {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t table_bytes = 16 * mebibyte;  // sixteen times the size of the cache

// Records the accesses of a program's loop. Each has its own generator, so they are the same in
// every run.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  std::uint64_t word(std::uint64_t bytes) { return below(bytes / 8) * 8; }

  void get(std::uint64_t address, std::uint32_t bytes = 8, int pe = 1) {
    add(Access::get, address, bytes, pe);
  }
  void put(std::uint64_t address, std::uint32_t bytes = 8, int pe = 1) {
    add(Access::put, address, bytes, pe);
  }
  void atomic(std::uint64_t address, int pe = 1) { add(Access::atomic, address, 8, pe); }
  void quiet() { add(Access::quiet, 0, 0, 0); }
  void barrier() { add(Access::barrier, 0, 0, 0); }

  Pattern done(const char* name, double think_ns = 5, bool prefetched = false) {
    return {name, think_ns, prefetched, std::move(made_)};
  }

 private:
  void add(Access::Kind kind, std::uint64_t address, std::uint32_t bytes, int pe) {
    made_.push_back({kind, static_cast<std::uint8_t>(pe), bytes, address});
  }

  std::mt19937_64 random_;
  std::vector<Access> made_;
};

// Draws ranks with probabilities proportional to 1/(rank + 1), spread over the table.
class Popular {
 public:
  explicit Popular(std::size_t count) : sums_(count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sums_[i] = sum += 1 / static_cast<double>(i + 1);
  }
  std::uint64_t draw(Maker& make) const {
    const auto at = std::lower_bound(sums_.begin(), sums_.end(), make.uniform() * sums_.back());
    return static_cast<std::uint64_t>(at - sums_.begin()) * 7919 % sums_.size();
  }

 private:
  std::vector<double> sums_;
};

Pattern copy() {
  Maker make(1);
  for (std::uint64_t i = 0; i < 65536; ++i) {
    make.get(8 * i);
    make.put(8 * i, 8, 2);
  }
  make.quiet();
  return make.done("copy, element by element");
}

Pattern backward() {
  Maker make(1);
  for (std::uint64_t i = 131072; i-- > 0;) make.get(8 * i);
  return make.done("array backward");
}

Pattern arrays() {
  Maker make(1);
  for (std::uint64_t i = 0; i < 16384; ++i)
    for (std::uint64_t array = 0; array < 6; ++array) make.get(array * 5 * mebibyte + 8 * i);
  return make.done("six arrays at once");
}

Pattern update_in_place() {
  Maker make(1);
  for (std::uint64_t i = 0; i < 65536; ++i) {
    make.get(8 * i);
    make.put(8 * i);
  }
  make.quiet();
  return make.done("array read and written");
}

Pattern stride(std::uint64_t bytes, const char* name) {
  Maker make(1);
  for (std::uint64_t i = 0; i < 12000; ++i) make.get(i * bytes);
  return make.done(name);
}

Pattern columns() {
  Maker make(1);
  for (std::uint64_t column = 0; column < 64; ++column)
    for (std::uint64_t row = 0; row < 500; ++row) make.get(row * 4000 + 8 * column);
  return make.done("matrix by columns");
}

Pattern short_runs() {
  Maker make(2);
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t from = make.word(table_bytes);
    for (std::uint64_t at = 0; at < 256; at += 8) make.get(from + at);
  }
  return make.done("runs of 256 B anywhere");
}

Pattern records(std::uint64_t bytes, int fields, const char* name) {
  Maker make(3);
  for (int i = 0; i < 60000 / fields; ++i) {
    const std::uint64_t record = make.below(table_bytes / bytes) * bytes;
    for (int field = 0; field < fields; ++field) make.get(record + make.word(bytes));
  }
  return make.done(name);
}

Pattern random_gets() {
  Maker make(4);
  for (int i = 0; i < 60000; ++i) make.get(make.word(table_bytes));
  return make.done("gets anywhere");
}

Pattern popular_gets() {
  Maker make(5);
  const Popular popular(table_bytes / 256);
  for (int i = 0; i < 100000; ++i) make.get(popular.draw(make) * 256);
  return make.done("gets by popularity");
}

Pattern hot_and_cold() {
  Maker make(6);
  for (int i = 0; i < 100000; ++i)
    make.get(i % 4 == 0 ? mebibyte + make.word(table_bytes) : make.word(mebibyte / 2));
  return make.done("hot table, gets anywhere");
}

Pattern phases() {
  Maker make(7);
  for (std::uint64_t phase = 0; phase < 12; ++phase) {
    for (int i = 0; i < 4000; ++i) make.get(make.word(table_bytes));
    for (std::uint64_t i = 0; i < 8192; ++i) make.get(32 * mebibyte + phase * mebibyte + 8 * i);
  }
  return make.done("gets anywhere, then an array");
}

Pattern gups() {
  Maker make(8);
  for (int i = 0; i < 40000; ++i) {
    const std::uint64_t at = make.word(table_bytes);
    make.get(at);
    make.put(at);
  }
  make.quiet();
  return make.done("gups: get and put anywhere");
}

Pattern random_puts() {
  Maker make(9);
  for (int i = 0; i < 60000; ++i) make.put(make.word(table_bytes));
  make.quiet();
  return make.done("puts anywhere");
}

Pattern puts_beside_reads() {
  Maker make(10);
  for (int i = 0; i < 100000; ++i) {
    if (i % 4 == 0) {
      make.put(mebibyte + make.word(table_bytes));
    } else {
      make.get(make.word(mebibyte * 3 / 4));
    }
  }
  make.quiet();
  return make.done("hot table, puts anywhere");
}

Pattern histogram() {
  Maker make(11);
  for (int i = 0; i < 60000; ++i) {
    const std::uint64_t at = make.word(256 << 10);
    make.get(at);
    make.put(at);
  }
  make.quiet();
  return make.done("histogram of 256 KiB");
}

Pattern put_columns() {
  Maker make(12);
  for (std::uint64_t column = 0; column < 64; ++column)
    for (std::uint64_t row = 0; row < 500; ++row) make.put(row * 4000 + 8 * column);
  make.quiet();
  return make.done("matrix written by columns");
}

// C += A^T, both in blocks of 3 x 5 over a grid of 2 x 2 PEs: visits the elements of C on one PE in
// storage order (apps/shmem/ptrans).
Pattern ptrans() {
  constexpr std::uint64_t size = 500, rows = 3, cols = 5, grid = 2, width = 250;
  const auto place = [](std::uint64_t i, std::uint64_t block) {
    return i / block / grid * block + i % block;
  };
  Maker make(13);
  for (std::uint64_t i = 0; i < size; ++i) {
    if (i / rows % grid != 0) continue;
    for (std::uint64_t j = 0; j < size; ++j) {
      const auto pe = static_cast<int>(j / rows % grid * grid + i / cols % grid);
      if (j / cols % grid == 0 && pe != 0)
        make.get((place(j, rows) * width + place(i, cols)) * 8, 8, pe);
    }
  }
  make.barrier();
  return make.done("ptrans");
}

// A grid of 512 x 512 on each PE: every step accesses the edges of four neighbours.
Pattern stencil(unsigned seed, void (Maker::*access)(std::uint64_t, std::uint32_t, int),
                const char* name) {
  constexpr std::uint64_t n = 512;
  Maker make(seed);
  for (int step = 0; step < 30; ++step) {
    for (std::uint64_t i = 0; i < n; ++i) (make.*access)(((n - 1) * n + i) * 8, 8, 1);
    for (std::uint64_t i = 0; i < n; ++i) (make.*access)(i * 8, 8, 2);
    for (std::uint64_t i = 0; i < n; ++i) {
      (make.*access)((i * n + n - 1) * 8, 8, 3);
      (make.*access)(i * n * 8, 8, 4);
    }
    make.barrier();
  }
  return make.done(name);
}

Pattern stencil_by_gets() { return stencil(14, &Maker::get, "stencil: edges read"); }
Pattern stencil_by_puts() { return stencil(15, &Maker::put, "stencil: edges written"); }

// Breadth-first search: reads neighbour lists and the distance of each neighbour, which is marked
// atomically if the neighbour is unseen.
Pattern graph() {
  constexpr std::uint64_t vertices = 1 << 15, starts = 0, lists = mebibyte,
                          distances = 8 * mebibyte;
  Maker make(16);
  std::vector<std::uint64_t> start(vertices + 1, 0), neighbour;
  for (std::uint64_t v = 0; v < vertices; ++v) {
    const auto degree = static_cast<std::uint64_t>(std::min(200.0, 2 / (make.uniform() + 0.005)));
    for (std::uint64_t i = 0; i < degree; ++i)
      neighbour.push_back(static_cast<std::uint64_t>(std::pow(make.uniform(), 2) * vertices));
    start[v + 1] = neighbour.size();
  }
  std::vector<bool> seen(vertices, false);
  for (std::uint64_t level = 0; level < 6; ++level) {
    for (std::uint64_t v = level; v < vertices; v += 24) {
      make.get(starts + 8 * v);
      make.get(starts + 8 * v + 8);
      for (std::uint64_t k = start[v]; k < start[v + 1]; ++k) {
        make.get(lists + 8 * k);
        make.get(distances + 8 * neighbour[k]);
        if (seen[neighbour[k]]) continue;
        seen[neighbour[k]] = true;
        make.atomic(distances + 8 * neighbour[k]);
      }
    }
    make.barrier();
  }
  return make.done("graph search");
}

// Reads the positions of the atoms around each atom. Atoms are stored by cell, so most of these are
// close in memory.
Pattern particles() {
  constexpr std::uint64_t atoms = 30000;
  Maker make(17);
  for (int step = 0; step < 2; ++step) {
    for (std::uint64_t atom = 0; atom < atoms / 8; ++atom)
      for (int i = 0; i < 20; ++i) {
        const std::uint64_t plane = make.below(3) * 9000, other = atom + plane + make.below(40);
        make.get(other * 24, 24);
      }
    make.barrier();
  }
  return make.done("particles: positions read");
}

Pattern prefetched(double think_ns, std::uint32_t bytes, const char* name) {
  Maker make(18);
  for (std::uint32_t i = 0; i < 240000 / (bytes / 8 + 7); ++i)
    make.get(make.below(table_bytes / bytes) * bytes, bytes);
  return make.done(name, think_ns, true);
}

}  // namespace

std::vector<Pattern> page_patterns() {
  return {copy(),
          backward(),
          arrays(),
          update_in_place(),
          stride(200, "every 200 B"),
          stride(5000, "every 5,000 B"),
          columns(),
          short_runs(),
          records(256, 8, "records of 256 B, 8 fields"),
          records(256, 2, "records of 256 B, 2 fields"),
          records(1024, 12, "records of 1 KiB, 12 fields"),
          random_gets(),
          popular_gets(),
          hot_and_cold(),
          phases(),
          gups(),
          random_puts(),
          puts_beside_reads(),
          histogram(),
          put_columns(),
          ptrans(),
          stencil_by_gets(),
          stencil_by_puts(),
          graph(),
          particles(),
          prefetched(100, 8, "prefetched, 0.1 us apart"),
          prefetched(3000, 8, "prefetched, 3 us apart"),
          prefetched(1000, 2048, "prefetched, 2 KiB each")};
}

}  // namespace bench
