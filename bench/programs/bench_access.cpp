// SPDX-License-Identifier: BSD-3-Clause

// The cost of a get by access type and size (CLaMPI, Fig. 7), from the call of MPI_Get to the
// return of MPI_Win_flush.
//
// Each series has its own window and brings its cache into a state in which gets are of one access
// type. The counter that moved tells what a get really was; only gets of the wanted type count. The
// series take turns get by get, so that a disturbance affects all of them.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench.h"

using bench::Rows;
using bench::Window;

namespace {

constexpr int target = 1;
constexpr std::size_t hot = 16;      // number of entries that fill a small storage
constexpr std::size_t batch = 64;    // gets that a roomy storage takes before it is emptied
constexpr std::size_t period = 512;  // turns between two preparations of all series

using Counter = std::uint64_t nearcache_stats::*;

struct Kind {
  const char* access;
  Counter counter;             // null: the plain get
  std::size_t entries, index;  // storage, in gets of the measured size; index entries
};

// `hit_partial` requests twice the bytes that are cached; `hit_pending` requests bytes that the
// preceding get has not yet delivered.
constexpr Kind kinds[] = {
    {"plain", nullptr, 0, 64},
    {"hit_full", &nearcache_stats::hits_full, 4 * batch, 4096},
    {"hit_pending", &nearcache_stats::hits_pending, 4 * batch, 4096},
    {"hit_partial", &nearcache_stats::hits_partial, 4 * batch, 4096},
    {"direct", &nearcache_stats::direct, 4 * batch, 4096},
    {"conflicting", &nearcache_stats::conflicting, 4 * batch, 64},
    {"capacity", &nearcache_stats::capacity, hot, 4096},
    {"failing", &nearcache_stats::failing, hot, 4096},
};

class Series {
 public:
  Series(const Kind& kind, const Window& memory, std::size_t size, std::size_t places,
         unsigned char* destination)
      : kind_(kind),
        size_(size),
        places_(places),
        destination_(destination),
        window_(std::make_unique<Window>(memory, keys(kind, size))) {}

  const Kind& kind() const { return kind_; }
  const std::vector<double>& times() const { return times_; }
  bool is(const char* access) const { return std::string(kind_.access) == access; }

  // Brings the cache into a state in which the next gets are of the wanted type.
  void prepare() {
    if (is("hit_full")) repeat(size_, 2);
    // Access these entries again and again, so that they are worth more than a new one.
    if (is("failing")) repeat(std::max<std::size_t>(1, size_ / 2), 40);
    if (is("conflicting") || is("capacity"))
      for (std::size_t i = 0; i < batch; ++i) get(next(), size_);
  }

  // Issues one more get; its time counts if the get was of the wanted type.
  void turn(std::size_t number) {
    if (is("direct") && number % batch == 0) empty();
    if (is("hit_partial")) {
      if (number % batch == 0) empty();
      get(issued_, std::max<std::size_t>(1, size_ / 2));
    }
    if (is("hit_pending")) {
      if (number % batch == 0) empty();
      issue(issued_, size_);
    }
    if (is("failing") && number % hot == 0) repeat(std::max<std::size_t>(1, size_ / 2), 1);
    const std::uint64_t before = counted();
    const std::size_t place = is("hit_full") ? number % hot : next();
    const std::int64_t start = bench::now_ns();
    get(place, size_);
    const auto took = static_cast<double>(bench::now_ns() - start);
    if (!kind_.counter || counted() == before + 1) times_.push_back(took);
  }

 private:
  static bench::InfoKeys keys(const Kind& kind, std::size_t size) {
    if (!kind.counter) return {{"nearcache_mode", "off"}};
    return {{"nearcache_mode", "user"},
            {"nearcache_adaptive", "false"},
            {"nearcache_skip_cheap", "false"},
            {"nearcache_index", std::to_string(kind.index)},
            {"nearcache_storage", std::to_string(kind.entries * std::max<std::size_t>(size, 16))}};
  }

  void issue(std::size_t place, std::size_t bytes) {
    MPI_Get(destination_, static_cast<int>(bytes), MPI_BYTE, target,
            static_cast<MPI_Aint>(place * size_), static_cast<int>(bytes), MPI_BYTE,
            window_->handle());
  }
  void get(std::size_t place, std::size_t bytes) {
    issue(place, bytes);
    MPI_Win_flush(target, window_->handle());
  }
  void repeat(std::size_t bytes, int times) {
    for (int i = 0; i < times; ++i)
      for (std::size_t place = 0; place < hot; ++place) get(place, bytes);
  }
  // Returns the places after the hot ones, in turn.
  std::size_t next() {
    const std::size_t place = issued_;
    issued_ = issued_ + 1 < places_ ? issued_ + 1 : hot;
    return place;
  }
  void empty() {
    bench::invalidate(window_->handle());
    get(0, size_);  // not counted: this get empties the cache
  }
  std::uint64_t counted() const {
    if (!kind_.counter) return 0;
    nearcache_stats stats;
    return bench::statistics(window_->handle(), stats) ? stats.*kind_.counter : 0;
  }

  const Kind& kind_;
  std::size_t size_, places_, issued_ = hot;
  unsigned char* destination_;
  std::unique_ptr<Window> window_;
  std::vector<double> times_;
};

void measure(std::size_t size, std::size_t repetitions, bool plain_only, Rows& rows) {
  const std::size_t places =
      std::max<std::size_t>(1024, std::min<std::size_t>(65536, (std::size_t{32} << 20) / size));
  const Window memory(Window::Memory::created, places * size, 0, {{"nearcache_mode", "off"}});
  auto* destination =
      static_cast<unsigned char*>(std::aligned_alloc(4096, (size / 4096 + 1) * 4096));
  std::vector<Series> all;
  for (const Kind& kind : kinds)
    if (!kind.counter || !plain_only) all.emplace_back(kind, memory, size, places, destination);
  int me;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) {
    bench::Random random(size);
    for (std::size_t i = 0; i < repetitions; ++i) {
      if (i % period == 0)
        for (Series& series : all) series.prepare();
      for (std::uint32_t at : bench::shuffled(all.size(), random)) all[at].turn(i);
    }
    for (const Series& series : all) {
      rows.begin();
      rows.field("size", static_cast<double>(size));
      rows.field("access", std::string(series.kind().access));
      rows.field("repetitions", static_cast<double>(repetitions));
      rows.field("ns", series.times());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  all.clear();
  std::free(destination);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bench::Arguments arguments(
      argc, argv,
      {bench::number("repetitions", 1000, "Gets of each kind and size"),
       bench::numbers("sizes", "8,64,512,1024,4096,16384,65536", "Bytes of a get")});
  Rows rows;
  const auto repetitions = static_cast<std::size_t>(arguments.number("repetitions"));
  nearcache_stats stats;
  const bool loaded = bench::statistics(MPI_WIN_NULL, stats);
  for (auto size : arguments.numbers("sizes"))
    measure(static_cast<std::size_t>(size), repetitions, !loaded, rows);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
