// SPDX-License-Identifier: BSD-3-Clause
#include "bench.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <sstream>

#include "common/nearcache_calls.h"
#include "common/virtual_time.h"

namespace bench {

std::int64_t now_ns() {
  if constexpr (apps::virtual_time) return static_cast<std::int64_t>(1e9 * MPI_Wtime());
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1000000000} + now.tv_nsec;
}

std::uint64_t Random::next() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return state_ * 0x2545f4914f6cdd1du;
}

std::vector<std::uint32_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

namespace {

int rank() {
  int value;
  MPI_Comm_rank(MPI_COMM_WORLD, &value);
  return value;
}

MPI_Info info_of(const InfoKeys& keys) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (auto& [key, value] : keys) MPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

}  // namespace

Arguments::Arguments(int argc, char** argv, std::vector<Option> options)
    : Options(std::move(options)) {
  const Outcome outcome = parse(argc, argv);
  if (outcome.go_on) return;
  if (rank() == 0) std::fputs(outcome.said.c_str(), outcome.code == 0 ? stdout : stderr);
  MPI_Finalize();
  std::exit(outcome.code);
}

std::int64_t* make_words(const std::string& memory, std::size_t words,
                         std::vector<std::int64_t>* own, MPI_Win* window) {
  const auto bytes = static_cast<MPI_Aint>(words * sizeof(std::int64_t));
  std::int64_t* mine = nullptr;
  if (memory == "created") {
    own->resize(words);
    mine = own->data();
    MPI_Win_create(mine, bytes, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, window);
  } else {
    MPI_Win_allocate(bytes, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, window);
  }
  std::fill_n(mine, words, std::int64_t{0});
  return mine;
}

Window::Window(Memory memory, std::size_t exposed, std::size_t own, const InfoKeys& keys)
    : bytes_(rank() == 1 ? exposed : own), owned_(memory == Memory::created) {
  MPI_Info info = info_of(keys);
  if (owned_) {
    base_ = static_cast<unsigned char*>(std::aligned_alloc(4096, (bytes_ / 4096 + 1) * 4096));
    if (!base_) {
      std::fprintf(stderr, "bench: no memory for a window of %zu bytes\n", bytes_);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_create(base_, static_cast<MPI_Aint>(bytes_), 1, info, MPI_COMM_WORLD, &handle_);
  } else {
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes_), 1, info, MPI_COMM_WORLD, &base_, &handle_);
  }
  MPI_Info_free(&info);
  for (std::size_t i = 0; i < bytes_; ++i) base_[i] = pattern(i);
  open();
}

Window::Window(const Window& other, const InfoKeys& keys)
    : bytes_(other.bytes_), base_(other.base_) {
  MPI_Info info = info_of(keys);
  MPI_Win_create(base_, static_cast<MPI_Aint>(bytes_), 1, info, MPI_COMM_WORLD, &handle_);
  MPI_Info_free(&info);
  open();
}

void Window::open() {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, handle_);
}

Window::~Window() {
  MPI_Win_unlock_all(handle_);
  MPI_Win_free(&handle_);
  if (owned_) std::free(base_);
}

bool statistics(MPI_Win window, nearcache_stats& stats) {
  const auto found = apps::cache_statistics(window);
  stats = found.value_or(nearcache_stats{});
  return found.has_value();
}

void invalidate(MPI_Win window) { apps::invalidate(window); }

void quiet_barrier() {
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  int done = 0;
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) break;
    if (rank() != 0) usleep(500);
  }
}

void Rows::begin() { text_ += text_.empty() ? "{" : "},\n{"; }

void Rows::key(const std::string& name) {
  if (text_.back() != '{') text_ += ", ";
  text_ += "\"" + name + "\": ";
}

void Rows::field(const std::string& name, const std::string& value) {
  key(name);
  text_ += "\"" + value + "\"";
}

void Rows::field(const std::string& name, double value) {
  key(name);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", value);
  text_ += digits;
}

void Rows::field(const std::string& name, const std::vector<double>& values) {
  key(name);
  text_ += "[";
  char digits[32];
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::snprintf(digits, sizeof digits, "%s%.8g", i ? "," : "", values[i]);
    text_ += digits;
  }
  text_ += "]";
}

void Rows::counters(const nearcache_stats& stats) {
#define NEARCACHE_COUNTER(name, kind, unit, help) field(#name, static_cast<double>(stats.name));
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
}

void Rows::write(const std::string& path) const {
  if (rank() != 0) return;
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "w");
  if (!file) {
    std::perror(path.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fprintf(file, "[%s%s]\n", text_.c_str(), text_.empty() ? "" : "}");
  if (file != stdout) std::fclose(file);
}

}  // namespace bench
