// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/lines.h"

namespace nearcache {

Lines::Seen* Lines::Sample::find(uint64_t hash) {
  const uint64_t mixed = hash * 0xd1342543de82ef95u;
  if (mixed > UINT64_MAX >> bits_) return nullptr;
  // uses bits below those that select the sample
  return &seen_[mixed >> (64 - most_bits - 9) & (slots - 1)];
}

// Returns true if it replaces another one that was not used.
bool Lines::Sample::add(Seen* seen, uint64_t hash, uint16_t at, uint16_t when) {
  const bool unused = seen->name != 0 && !seen->used;
  *seen = {.name = name_of(hash), .when = when};
  seen->at = at & 0x7fff;
  if (bits_ < most_bits && ++kept_ > slots) {
    ++bits_;
    kept_ /= 2;
  }
  return unused;
}

void Lines::missed(uint32_t target, int64_t at, uint32_t generation) {
  if (paused_ > 0) {
    --paused_;
    return;
  }
  if (length_ == longest) return;
  constexpr auto block = static_cast<int64_t>(longest);
  const uint64_t hash = hash_of(target, at / block, generation);
  Seen* seen = missed_.find(hash);
  if (seen == nullptr) return;
  const auto place = static_cast<uint16_t>(at % block);
  if (seen->name == name_of(hash)) {
    near_ += seen->at != place ? 1 : 0;
    seen->at = place & 0x7fff;
  } else {
    missed_.add(seen, hash, place, 0);
  }
  if (++misses_ < span) return;
  if (near_ * 4 >= misses_) {
    const bool most = near_ * 4 >= misses_ * 3;
    length_ =
        length_ == 0 ? (most ? 4 : 1) * shortest : std::min((most ? 4 : 2) * length_, longest);
  }
  misses_ = near_ = 0;
}

void Lines::fetched(const Key& line, int64_t at, uint32_t generation) {
  ++lines_;
  const uint64_t hash = hash_of(line.target, line.displacement, generation);
  Seen* seen = fetched_.find(hash);
  if (seen == nullptr) return;
  const auto place = static_cast<uint16_t>(at - line.displacement);
  // It was refused or evicted, and would have been used.
  if (seen->name == name_of(hash) && !seen->used && seen->at != place && is_recent(*seen)) ++soon_;
  if (fetched_.add(seen, hash, place, lines_)) {
    ++unused_;
    judge();
  }
}

bool Lines::used(const Key& line, int64_t at, uint32_t generation) {
  const uint64_t hash = hash_of(line.target, line.displacement, generation);
  Seen* seen = fetched_.find(hash);
  if (seen == nullptr || seen->name != name_of(hash) || seen->used) return true;
  if (seen->at == static_cast<uint16_t>(at - line.displacement)) return false;
  seen->used = true;
  ++used_;
  soon_ += is_recent(*seen) ? 1 : 0;
  judge();
  return true;
}

// A line that leads to a hit saves microseconds; one that does not costs its place in storage and
// some 100 ns. Lines become due if three quarters lead to one soon, and stay so while two thirds
// do, as 32 lines are few.
void Lines::judge() {
  const uint32_t lines = used_ + unused_;
  if (lines < judged) return;
  due_ = due_ ? soon_ * 3 >= lines * 2 : soon_ * 4 >= lines * 3;
  if (!due_ && used_ * 4 < unused_) {
    length_ = length_ / 2 < shortest ? 0 : length_ / 2;
    misses_ = near_ = 0;
    paused_ = pause_;
    pause_ = std::min(2 * pause_, longest_pause);
  }
  used_ = unused_ = soon_ = 0;
}

std::byte* LineBuffers::take(uint64_t bytes) {
  Pool& pool = of(bytes);
  if (bytes > pool.bytes) return nullptr;
  if (pool.free.empty()) {
    if (pool.slabs.size() == pool.most_slabs) return nullptr;
    pool.slabs.push_back(std::make_unique<std::byte[]>(pool.slab * pool.bytes));
    for (size_t i = 0; i < pool.slab; ++i)
      pool.free.push_back(pool.slabs.back().get() + i * pool.bytes);
  }
  std::byte* buffer = pool.free.back();
  pool.free.pop_back();
  return buffer;
}

}  // namespace nearcache
