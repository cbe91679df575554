// SPDX-License-Identifier: BSD-3-Clause

// How much of a get's time can be spent computing (CLaMPI, Fig. 8), for plain gets and by the
// cache's access type.
//
// The latency is that of get + flush. A second get is followed by a computation somewhat longer
// than the plain latency and then a flush; the time of the two calls without the computation is the
// exposed time. The driver computes the overlap from latency and exposed time. Access types take
// turns get by get, each with its own window over the same memory and with the same buffer, so that
// a disturbance affects all of them. `copied` are plain gets whose bytes the program copies after
// the flush, the way the library would and into memory like the library's: nothing that keeps the
// bytes can do better.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/copy.h"
#include "base/region.h"
#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;
constexpr std::size_t step = 8;  // distance between displacements: distinct gets may overlap

// A series of distinct gets of one size.
struct Series {
  const char* access;
  std::unique_ptr<Window> window;
  std::size_t batch = 0;  // gets between two invalidations; 0: no invalidations
  std::size_t issued = 0;
  nearcache::Region copies;  // where the program copies what it got; empty: no copies
  nearcache_stats before;
  std::vector<double> latency_ns, exposed_ns;
};

struct Times {
  double latency, exposed;
};

class Measurement {
 public:
  Measurement(std::size_t size, std::size_t most_gets)
      : size_(size),
        places_(most_gets),
        memory_(Window::Memory::created, size + most_gets * step, 0, {{"nearcache_mode", "off"}}) {
    destination_ = static_cast<unsigned char*>(std::aligned_alloc(4096, (size / 4096 + 1) * 4096));
  }
  ~Measurement() { std::free(destination_); }
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  // Adds a series with a cache of `storage` bytes: room for a batch, so that no entry is evicted;
  // for a few entries, so that every get evicts; or for less than one, so that all gets fail.
  void add(const char* access, std::size_t storage, std::size_t batch) {
    series_.push_back(
        {access,
         std::make_unique<Window>(memory_,
                                  bench::InfoKeys{{"nearcache_mode", "user"},
                                                  {"nearcache_adaptive", "false"},
                                                  {"nearcache_skip_cheap", "false"},
                                                  {"nearcache_index", "65536"},
                                                  {"nearcache_storage", std::to_string(storage)}}),
         batch,
         0,
         {},
         {},
         {},
         {}});
  }
  void add_plain(const char* access, std::size_t copies) {
    series_.push_back(
        {access,
         std::make_unique<Window>(memory_, bench::InfoKeys{{"nearcache_mode", "off"}}),
         0,
         0,
         {},
         {},
         {},
         {}});
    nearcache::Region& region = series_.back().copies;
    if (copies == 0 || !region.reserve(copies * size_)) return;
    nearcache::Region::prefer_large_pages(region.base(), region.bytes());
    std::memset(region.base(), 1, region.bytes());
  }

  double latency(Series& series) {
    std::int64_t start = bench::now_ns();
    get(series);
    flush(series);
    return static_cast<double>(bench::now_ns() - start);
  }

  double exposed(Series& series, std::int64_t compute_ns) {
    std::int64_t start = bench::now_ns();
    get(series);
    std::int64_t computing = bench::now_ns(), computed = computing;
    while (computed - computing < compute_ns) computed = bench::now_ns();
    flush(series);
    return static_cast<double>(bench::now_ns() - start - (computed - computing));
  }

  std::vector<Series>& series() { return series_; }
  std::size_t size() const { return size_; }

 private:
  void get(Series& series) {
    auto displacement = static_cast<MPI_Aint>(series.issued++ % places_ * step);
    MPI_Get(destination_, static_cast<int>(size_), MPI_BYTE, target, displacement,
            static_cast<int>(size_), MPI_BYTE, series.window->handle());
  }
  void flush(Series& series) {
    MPI_Win_flush(target, series.window->handle());
    if (series.copies.base() == nullptr) return;
    auto* to = static_cast<unsigned char*>(series.copies.base()) +
               series.issued % (series.copies.bytes() / size_) * size_;
    nearcache::copy_aside(to, destination_, size_);
  }

  std::size_t size_, places_;
  Window memory_;
  unsigned char* destination_;
  std::vector<Series> series_;
};

// Brings each series into a state in which its accesses are of its type; returns the plain latency.
double prepare(Measurement& measurement, std::size_t entries) {
  double plain = 0;
  for (Series& series : measurement.series()) {
    std::string access = series.access;
    std::vector<double> times;
    for (std::size_t i = 0; i < entries + 100; ++i) {
      if (access == "first") break;
      times.push_back(measurement.latency(series));
    }
    if (series.batch) bench::invalidate(series.window->handle());
    std::sort(times.begin(), times.end());
    if (access == "plain") plain = times[times.size() / 2];
    bench::statistics(series.window->handle(), series.before);
  }
  return plain;
}

void take_turns(Measurement& measurement, std::size_t repetitions, std::int64_t compute_ns,
                bench::Random& random) {
  auto& all = measurement.series();
  for (std::size_t i = 0; i < repetitions; ++i)
    for (std::uint32_t at : bench::shuffled(all.size(), random)) {
      Series& series = all[at];
      if (series.batch && i % series.batch == 0) {
        bench::invalidate(series.window->handle());
        measurement.latency(series);  // not counted: this get empties the cache
      }
      series.latency_ns.push_back(measurement.latency(series));
      series.exposed_ns.push_back(measurement.exposed(series, compute_ns));
    }
}

void measure(std::size_t size, std::size_t repetitions, double compute, Rows& rows) {
  constexpr std::size_t batch = 64, entries = 16;
  Measurement measurement(size, 3 * repetitions + 4096);
  measurement.add_plain("plain", 0);
  measurement.add_plain("copied", 2 * batch);  // as much memory as `direct` stores into
  measurement.add("direct", 2 * (batch + 1) * std::max<std::size_t>(size, 16) + 4096, batch);
  measurement.add("first", (2 * repetitions + 1) * std::max<std::size_t>(size, 16) + 4096, 0);
  measurement.add("capacity", entries * std::max<std::size_t>(size, 16), 0);
  measurement.add("failing", std::max<std::size_t>(size, 32) / 2, 0);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    bench::Random random(size);
    auto compute_ns = static_cast<std::int64_t>(compute * prepare(measurement, entries));
    take_turns(measurement, repetitions, compute_ns, random);
    for (Series& series : measurement.series()) {
      nearcache_stats stats;
      rows.begin();
      rows.field("size", static_cast<double>(size));
      rows.field("access", std::string(series.access));
      rows.field("compute_ns", static_cast<double>(compute_ns));
      rows.field("loaded", bench::statistics(series.window->handle(), stats));
      rows.field("gets", static_cast<double>(stats.gets - series.before.gets));
      rows.field("direct", static_cast<double>(stats.direct - series.before.direct));
      rows.field("capacity", static_cast<double>(stats.capacity - series.before.capacity));
      rows.field("failing", static_cast<double>(stats.failing - series.before.failing));
      rows.field("latency_ns", series.latency_ns);
      rows.field("exposed_ns", series.exposed_ns);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("repetitions", 500, "Gets of each kind and size"),
       bench::number("compute-percent", 150, "Computation, of the time of a get"),
       bench::numbers("sizes", "8,64,512,4096,16384,65536", "Bytes of a get")});
  Rows rows;
  auto repetitions = static_cast<std::size_t>(arguments.number("repetitions"));
  double compute = static_cast<double>(arguments.number("compute-percent")) / 100;
  for (auto size : arguments.numbers("sizes"))
    measure(static_cast<std::size_t>(size), repetitions, compute, rows);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
