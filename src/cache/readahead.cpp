#include "cache/readahead.h"

#include <algorithm>

namespace nearcache {
namespace {

constexpr uint64_t down(uint64_t address, uint64_t unit) { return address / unit * unit; }
constexpr uint64_t up(uint64_t address, uint64_t unit) { return (address + unit - 1) / unit * unit; }

// Below it a blocking get of the next window costs about what the call that starts it early and the quiet that ends it cost.
constexpr size_t worth_starting_early = 4096;
// Elements ahead of a strided stream, at most: each is a transfer of its own.
constexpr int most_strides = 16;
// Strides further apart than this are taken for chance.
constexpr int64_t longest_stride = 1 << 20;
// How many lines fetched ahead are looked at between two changes of the limit.
constexpr size_t lines_a_look = 64;
constexpr int misses_a_look = 32;
// A stream that goes on for so many fetches with a window at the limit shows that the limit is too low.
constexpr int fetches_to_raise_limit = 4;
// Elements that a strided stream is fetched ahead at first: with fewer, starting and awaiting them costs more than it saves.
constexpr int first_strides = 4;

}  // namespace

void Readahead::create(size_t most, size_t line, size_t page) {
  most_ = most;
  line_ = line;
  page_ = page;
  limit_ = most;
  near_ = most == 0 ? line : std::min(page, 4 * line);
}

Readahead::Stream* Readahead::continued(int pe, uint64_t begin, uint64_t end) {
  for (Stream& stream : streams_) {
    if (stream.pe != pe || stream.window == 0) continue;
    const uint64_t slack = std::max(stream.window, line_);
    const bool forward = stream.direction >= 0 && begin >= stream.end && begin - stream.end < slack;
    const bool backward = stream.direction <= 0 && end <= stream.begin && stream.begin - end < slack;
    if (!forward && !backward) continue;
    // Elements far apart that are hit in every window are a stride, even when windows have grown to hold several.
    if (stream.direction == 0) stream.direction = forward ? 1 : -1;
    return &stream;
  }
  return nullptr;
}

Readahead::Stream* Readahead::nearby(int pe, uint64_t address) {
  Stream* found = nullptr;
  int64_t best = longest_stride;
  for (Stream& stream : streams_) {
    if (stream.pe != pe) continue;
    const int64_t distance = static_cast<int64_t>(address - stream.last);
    if (stream.stride != 0 && distance == stream.stride) return &stream;
    const int64_t away = distance < 0 ? -distance : distance;
    if (away < best && stream.repeats == 0) {
      best = away;
      found = &stream;
    }
  }
  return found;
}

Readahead::Stream& Readahead::oldest() {
  Stream* found = &streams_[0];
  for (Stream& stream : streams_)
    if (clock_ - stream.last_use > clock_ - found->last_use) found = &stream;
  return *found;
}

Readahead::Plan Readahead::missed(int pe, uint64_t address, uint64_t begin, uint64_t end, bool resident) {
  ++clock_;
  learn_near(resident);
  if (most_ == 0) return {{begin, end}};
  if (Stream* stream = continued(pe, begin, end)) return sequential(*stream, begin, end);
  Stream* stream = nearby(pe, address);
  const int64_t distance = stream == nullptr ? 0 : static_cast<int64_t>(address - stream->last);
  if (stream != nullptr && distance != 0 && distance == stream->stride) {
    stream->last_use = clock_;
    if (stream->repeats < 100) ++stream->repeats;
    return strided(*stream, address, begin, end);
  }
  const int64_t stride = distance;
  if (stream == nullptr) stream = &oldest();
  const Plan plan = around(begin, end);
  *stream = Stream{};
  stream->pe = pe;
  stream->last_use = clock_;
  stream->stride = stride;
  stream->last = address;
  stream->begin = plan.fetch.begin;
  stream->end = plan.fetch.end;
  stream->window = std::max(plan.fetch.end - plan.fetch.begin, line_);
  return plan;
}

Readahead::Plan Readahead::sequential(Stream& stream, uint64_t begin, uint64_t end) {
  stream.last_use = clock_;
  stream.last = begin;
  stream.stride = 0;
  stream.repeats = 0;
  if (stream.window >= limit_ && ++stream.at_limit % fetches_to_raise_limit == 0) limit_ = std::min(2 * limit_, most_);
  stream.window = std::max(std::min(2 * stream.window, limit_), line_);
  Plan plan{{begin, end}};
  if (stream.direction > 0) {
    plan.fetch.end = std::max(end, down(begin + stream.window, line_));
    stream.begin = begin;
    stream.end = plan.fetch.end;
  } else {
    const uint64_t low = end > stream.window ? up(end - stream.window, line_) : 0;
    plan.fetch.begin = std::min(begin, low);
    stream.begin = plan.fetch.begin;
    stream.end = end;
  }
  return plan;
}

Readahead::Plan Readahead::strided(Stream& stream, uint64_t address, uint64_t begin, uint64_t end) {
  stream.begin = begin;
  stream.end = end;
  stream.window = 0;  // never continued as a sequential one
  stream.depth = std::min(stream.depth == 0 ? first_strides : 2 * stream.depth, most_strides);
  if (limit_ < line_ * static_cast<size_t>(stream.depth)) stream.depth = static_cast<int>(limit_ / line_);
  Plan plan{{begin, end}};
  plan.stride = stream.stride;
  plan.strides = stream.depth;
  // The next miss comes behind what is fetched now.
  stream.last = address + static_cast<uint64_t>(stream.stride * stream.depth);
  return plan;
}

// The aligned block of `near_` bytes that holds the beginning.
Readahead::Plan Readahead::around(uint64_t begin, uint64_t end) const {
  const uint64_t block = down(begin, near_);
  return {{block, std::max(end, block + near_)}};
}

void Readahead::learn_near(bool resident) {
  resident_misses_ += resident ? 1 : 0;
  if (++misses_ < misses_a_look) return;
  if (resident_misses_ * 4 > misses_) near_ = std::min(most_ == 0 ? line_ : page_, 2 * near_);
  misses_ = resident_misses_ = 0;
}

Extent Readahead::used(int pe, uint64_t address) {
  for (Stream& stream : streams_) {
    if (stream.pe != pe || stream.direction == 0) continue;
    if (address < stream.begin || address >= stream.end) continue;
    if (stream.window < worth_starting_early || limit_ < worth_starting_early) return {};
    if (stream.direction > 0) {
      if (stream.end - address > stream.window / 2) return {};
      return {stream.end, stream.end + std::min(stream.window, limit_)};
    }
    if (address - stream.begin > stream.window / 2 || stream.begin < stream.window) return {};
    return {stream.begin - std::min(stream.window, limit_), stream.begin};
  }
  return {};
}

void Readahead::started(int pe, const Extent& next) {
  for (Stream& stream : streams_) {
    if (stream.pe != pe || stream.direction == 0) continue;
    if (stream.direction > 0 && stream.end == next.begin) {
      stream.begin = next.begin;
      stream.end = next.end;
      stream.window = std::max(std::min(2 * stream.window, limit_), line_);
      return;
    }
    if (stream.direction < 0 && stream.begin == next.end) {
      stream.begin = next.begin;
      stream.end = next.end;
      stream.window = std::max(std::min(2 * stream.window, limit_), line_);
      return;
    }
  }
}

void Readahead::count(size_t used, size_t unused) {
  used_ += used;
  unused_ += unused;
  if (used_ + unused_ < lines_a_look) return;
  if (used_ * 2 < unused_) {  // two of three came for nothing
    limit_ = std::max(limit_ / 2, line_);
    near_ = std::max(near_ / 2, line_);
  } else if (unused_ * 8 < used_ && limit_ < most_) {
    limit_ = std::min(2 * limit_, most_);
  }
  used_ = unused_ = 0;
}

}  // namespace nearcache
