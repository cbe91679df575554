// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/storage.h"

#include <algorithm>
#include <iterator>

namespace nearcache {

void Storage::attach(std::byte* memory, Entry* entries, uint32_t most_entries, uint64_t bytes) {
  memory_.set(memory);
  entries_.set(entries);
  most_entries_ = most_entries;
  limit_ = most_entries;
  end_ = static_cast<uint32_t>(std::min(bytes, most_bytes) / granule_bytes);
  touched_ = 0;
  clear();
  prefer_large_pages();
}

void Storage::clear() {
  // Descriptors below `touched_` return to the pool, so that their memory is reused before new
  // memory is touched.
  pool_ = no_entry;
  for (EntryId id = touched_; id-- > 0;) {
    entries_[id].state = State::unused;
    entries_[id].after = pool_;
    pool_ = id;
  }
  std::fill(std::begin(bins_), std::end(bins_), no_entry);
  std::fill(std::begin(bin_used_), std::end(bin_used_), uint64_t{0});
  first_ = last_ = no_entry;
  free_ = 0;
  if (end_ > 0) add_free(no_entry, 0);
}

EntryId Storage::new_descriptor() {
  if (pool_ != no_entry) {
    const EntryId id = pool_;
    pool_ = entries_[id].after;
    return id;
  }
  return touched_ < limit_ ? touched_++ : no_entry;
}

void Storage::free_descriptor(EntryId id) {
  entries_[id].state = State::unused;
  entries_[id].after = pool_;
  pool_ = id;
}

// Adds free space that begins at `place` and extends to the next piece, after `before` in address
// order.
bool Storage::add_free(EntryId before, uint32_t place) {
  const EntryId id = new_descriptor();
  if (id == no_entry) return false;
  Entry& entry = entries_[id];
  entry.state = State::free_space;
  entry.place = place;
  entry.before = before;
  entry.after = before == no_entry ? first_ : entries_[before].after;
  (before == no_entry ? first_ : entries_[before].after) = id;
  (entry.after == no_entry ? last_ : entries_[entry.after].before) = id;
  free_ += length(id);
  add_to_bin(id);
  return true;
}

uint32_t Storage::bin_of(uint32_t granules) {
  if (granules < exact_bins) return granules;
  const auto power = static_cast<uint32_t>(31 - __builtin_clz(granules));
  return exact_bins + (power - 6) * 16 + ((granules >> (power - 4)) & 15);
}

void Storage::add_to_bin(EntryId id) {
  const uint32_t bin = bin_of(length(id));
  Entry& entry = entries_[id];
  entry.bin_before = no_entry;
  entry.bin_after = bins_[bin];
  if (bins_[bin] != no_entry) entries_[bins_[bin]].bin_before = id;
  bins_[bin] = id;
  bin_used_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void Storage::remove_from_bin(EntryId id) {
  const uint32_t bin = bin_of(length(id));
  const Entry& entry = entries_[id];
  if (entry.bin_after != no_entry) entries_[entry.bin_after].bin_before = entry.bin_before;
  if (entry.bin_before != no_entry) {
    entries_[entry.bin_before].bin_after = entry.bin_after;
  } else {
    bins_[bin] = entry.bin_after;
    if (entry.bin_after == no_entry) bin_used_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  }
}

EntryId Storage::best_in_bin(uint32_t bin, uint32_t granules, int most_looked_at) const {
  EntryId best = no_entry;
  uint32_t best_length = UINT32_MAX;
  for (EntryId id = bins_[bin]; id != no_entry && most_looked_at > 0;
       id = entries_[id].bin_after, --most_looked_at) {
    const uint32_t has = length(id);
    if (has >= granules && has < best_length) {
      best = id;
      best_length = has;
    }
  }
  return best;
}

EntryId Storage::best_fit(uint32_t granules) const {
  const uint32_t bin = bin_of(granules);
  if (const EntryId id = best_in_bin(bin, granules, 8); id != no_entry) return id;
  // Any piece in a higher bin is large enough; the lowest non-empty bin fits best.
  uint32_t word = (bin + 1) / 64;
  uint64_t bits = bin + 1 < bin_count ? bin_used_[word] & (~uint64_t{0} << ((bin + 1) % 64)) : 0;
  while (bits == 0) {
    if (++word >= std::size(bin_used_)) return no_entry;
    bits = bin_used_[word];
  }
  return best_in_bin(word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits)), granules, 4);
}

// Removes `id` from the address order; its storage must already belong to a neighbour.
void Storage::unlink(EntryId id) {
  const Entry& entry = entries_[id];
  (entry.before == no_entry ? first_ : entries_[entry.before].after) = entry.after;
  (entry.after == no_entry ? last_ : entries_[entry.after].before) = entry.before;
}

bool Storage::allocate(EntryId id, uint64_t bytes) {
  const uint32_t granules = std::max<uint32_t>(granules_of(bytes), 1);
  const EntryId piece = best_fit(granules);
  if (piece == no_entry) return false;
  remove_from_bin(piece);
  const uint32_t has = length(piece);
  Entry& entry = entries_[id];
  const Entry& free_piece = entries_[piece];
  entry.place = free_piece.place;
  entry.before = free_piece.before;
  if (has == granules) {
    entry.after = free_piece.after;
    (entry.after == no_entry ? last_ : entries_[entry.after].before) = id;
    free_descriptor(piece);
  } else {
    entry.after = piece;
    entries_[piece].before = id;
    entries_[piece].place += granules;
    add_to_bin(piece);
  }
  (entry.before == no_entry ? first_ : entries_[entry.before].after) = id;
  free_ -= granules;
  return true;
}

// Makes the free piece `neighbour` part of the piece directly before it.
void Storage::absorb(EntryId neighbour) {
  remove_from_bin(neighbour);
  unlink(neighbour);
  free_descriptor(neighbour);
}

void Storage::release(EntryId id) {
  const EntryId before = entries_[id].before;
  const EntryId after = entries_[id].after;
  free_ += length(id);
  if (after != no_entry && entries_[after].state == State::free_space) absorb(after);
  if (before != no_entry && entries_[before].state == State::free_space) {
    remove_from_bin(before);
    unlink(id);
    free_descriptor(id);
    add_to_bin(before);
    return;
  }
  entries_[id].state = State::free_space;
  add_to_bin(id);
}

bool Storage::extend(EntryId id, uint64_t bytes) {
  const uint32_t granules = granules_of(bytes);
  const uint32_t has = length(id);
  if (granules <= has) return true;
  const EntryId after = entries_[id].after;
  if (after == no_entry || entries_[after].state != State::free_space) return false;
  const uint32_t more = granules - has;
  const uint32_t there = length(after);
  if (there < more) return false;
  remove_from_bin(after);
  free_ -= more;
  if (there == more) {
    unlink(after);
    free_descriptor(after);
  } else {
    entries_[after].place += more;
    add_to_bin(after);
  }
  return true;
}

uint64_t Storage::free_around(EntryId id) const {
  uint64_t granules = 0;
  for (const EntryId neighbour : {entries_[id].before, entries_[id].after}) {
    if (neighbour != no_entry && entries_[neighbour].state == State::free_space)
      granules += length(neighbour);
  }
  return granules * granule_bytes;
}

// Returns false, with nothing changed, if there is no descriptor for the new piece.
bool Storage::grow(uint64_t bytes) {
  const auto end = static_cast<uint32_t>(std::min(bytes, most_bytes) / granule_bytes);
  if (end <= end_) return true;
  // From the start: a large page may begin in the old part and end in the new one.
  Region::prefer_large_pages(memory_.get(), backed_bytes(uint64_t{end} * granule_bytes));
  const uint32_t more = end - end_;
  if (last_ != no_entry && entries_[last_].state == State::free_space) {
    remove_from_bin(last_);
    end_ = end;
    free_ += more;
    add_to_bin(last_);
    return true;
  }
  const uint32_t from = end_;
  end_ = end;
  if (add_free(last_, from)) return true;
  end_ = from;
  return false;
}

bool Storage::shrink(uint64_t bytes) {
  const auto end = static_cast<uint32_t>(bytes / granule_bytes);
  if (end >= end_) return true;
  if (last_ == no_entry || entries_[last_].state != State::free_space ||
      entries_[last_].place > end)
    return false;
  remove_from_bin(last_);
  free_ -= end_ - end;
  const uint32_t old_end = end_;
  end_ = end;
  if (entries_[last_].place == end) {
    const EntryId gone = last_;
    unlink(gone);
    free_descriptor(gone);
  } else {
    add_to_bin(last_);
  }
  Region::discard(memory_.get() + uint64_t{end} * granule_bytes,
                  uint64_t{old_end - end} * granule_bytes);
  return true;
}

}  // namespace nearcache
