// SPDX-License-Identifier: BSD-3-Clause
#include "cache/page/readahead.h"

#include <algorithm>

#include "base/round.h"

namespace nearcache {
namespace {

// For smaller windows, a blocking get costs about as much as starting the get early and ending it
// with a quiet.
constexpr size_t worth_starting_early = 4096;
// Maximum number of elements fetched ahead for a strided stream: each is a transfer of its own.
constexpr int most_strides = 32;
// Larger strides are considered to be chance.
constexpr uint64_t longest_stride = 1 << 20;
// The number of lines fetched ahead after which the limit is reconsidered: several long fetches,
// since each evicts pages of older ones, whose unused lines are then counted all at once.
constexpr size_t lines_a_look = 1024;
// A line that is used saves a get, which takes microseconds; one that is not costs the time of its
// bytes, some 50 ns. So one in this many must be used.
constexpr size_t unused_for_a_used = 8;
constexpr int misses_a_look = 32;
constexpr uint32_t misses_to_doubt = 256;
// A stream that continues for this many fetches with its window at the limit shows that the limit
// is too low.
constexpr int fetches_to_raise_limit = 4;
// The number of elements first fetched ahead for a strided stream: with fewer, starting and
// awaiting them costs more than it saves.
constexpr int first_strides = 4;

}  // namespace

void Readahead::create(size_t most, size_t line, size_t page, const PageHeuristics& heuristics) {
  on_ = heuristics;
  most_ = most;
  line_ = line;
  page_ = page;
  limit_ = most;
  near_ = most == 0 || !on_.near ? line : std::min(page, 4 * line);
}

Readahead::Match Readahead::match(int pe, uint64_t address, uint64_t begin, uint64_t end) {
  Match found;
  uint64_t nearest = longest_stride;
  uint32_t longest_unused = 0;
  for (Stream& stream : streams_) {
    const uint32_t unused = clock_ - stream.last_use;
    if (unused >= longest_unused) {
      longest_unused = unused;
      found.oldest = &stream;
    }
    if (stream.pe != pe) continue;
    const uint64_t window = stream.window;  // 0 if strided
    if (on_.streams && ((stream.direction >= 0 && begin - stream.end < window) ||
                        (stream.direction <= 0 && stream.begin - end < window))) {
      found.continued = &stream;
      return found;
    }
    const auto distance = static_cast<int64_t>(address - stream.last);
    if (distance == stream.stride && distance != 0 && on_.strides) found.strided = &stream;
    const auto away = static_cast<uint64_t>(distance < 0 ? -distance : distance);
    if (away < nearest && stream.repeats == 0) {
      nearest = away;
      found.nearby = &stream;
    }
  }
  return found;
}

Readahead::Plan Readahead::missed(int pe, uint64_t address, uint64_t begin, uint64_t end,
                                  bool resident) {
  ++clock_;
  learn_near(resident);
  if (most_ == 0) return {{begin, end}};
  // If no stream has continued for a long time, look for streams at only a quarter of the misses:
  // the search is most of the cost of a miss here.
  if (on_.doubt && unmatched_ > misses_to_doubt && clock_ % 64 >= 16) return {near({begin, end})};
  const Match found = match(pe, address, begin, end);
  unmatched_ = found.continued != nullptr || found.strided != nullptr ? 0 : unmatched_ + 1;
  if (found.continued != nullptr) return sequential(*found.continued, begin, end);
  if (found.strided != nullptr) return strided(*found.strided, address, begin, end);
  const Plan plan{near({begin, end})};
  Stream& stream = found.nearby != nullptr ? *found.nearby : *found.oldest;
  stream.stride = found.nearby != nullptr ? static_cast<int64_t>(address - stream.last) : 0;
  stream.pe = pe;
  stream.direction = 0;
  stream.repeats = 0;
  stream.last_use = clock_;
  stream.last = address;
  stream.begin = plan.fetch.begin;
  stream.end = plan.fetch.end;
  stream.window = std::max<uint64_t>(plan.fetch.end - plan.fetch.begin, line_);
  stream.depth = stream.at_limit = 0;
  return plan;
}

Readahead::Plan Readahead::sequential(Stream& stream, uint64_t begin, uint64_t end) {
  stream.last_use = clock_;
  stream.last = begin;
  stream.stride = 0;
  if (stream.direction == 0) stream.direction = begin >= stream.end ? 1 : -1;
  if (stream.window >= limit_ && ++stream.at_limit % fetches_to_raise_limit == 0)
    limit_ = std::min(2 * limit_, most_);
  stream.window = std::max(std::min(2 * stream.window, limit_), line_);
  Plan plan{{begin, end}};
  if (stream.direction > 0) {
    plan.fetch.end = std::max(end, round_down(begin + stream.window, line_));
    stream.begin = begin;
    stream.end = plan.fetch.end;
  } else {
    const uint64_t low = end > stream.window ? round_up(end - stream.window, line_) : 0;
    plan.fetch.begin = std::min(begin, low);
    stream.begin = plan.fetch.begin;
    stream.end = end;
  }
  return plan;
}

Readahead::Plan Readahead::strided(Stream& stream, uint64_t address, uint64_t begin, uint64_t end) {
  stream.last_use = clock_;
  if (stream.repeats < 100) ++stream.repeats;
  stream.begin = begin;
  stream.end = end;
  stream.window = 0;  // never continued as a sequential stream
  stream.depth = std::min(stream.depth == 0 ? first_strides : 2 * stream.depth, most_strides);
  if (limit_ < near_ * static_cast<size_t>(stream.depth)) {
    if (++stream.at_limit % fetches_to_raise_limit == 0) limit_ = std::min(2 * limit_, most_);
    stream.depth = static_cast<int>(std::max(limit_ / near_, size_t{1}));
  }
  Plan plan{near({begin, end})};
  plan.stride = stream.stride;
  plan.strides = stream.depth;
  // The next miss is expected after what is fetched now.
  stream.last = address + static_cast<uint64_t>(stream.stride * stream.depth);
  return plan;
}

Extent Readahead::near(const Extent& lines) const {
  const uint64_t block = round_down(lines.begin, near_);
  return {block, std::max<uint64_t>(lines.end, block + near_)};
}

void Readahead::learn_near(bool resident) {
  resident_misses_ += resident ? 1 : 0;
  if (++misses_ < misses_a_look) return;
  if (on_.near && on_.grow && resident_misses_ * 4 > misses_)
    near_ = std::min(most_ == 0 ? line_ : page_, 2 * near_);
  misses_ = resident_misses_ = 0;
}

Extent Readahead::used(int pe, uint64_t address) {
  if (!on_.early) return {};
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
  if (on_.limit && used_ * unused_for_a_used < unused_) {
    limit_ = std::max(limit_ / 2, line_);
    near_ = std::max(near_ / 2, line_);
  } else if (unused_ * 8 < used_ && limit_ < most_) {
    limit_ = std::min(2 * limit_, most_);
  }
  used_ = unused_ = 0;
}

}  // namespace nearcache
