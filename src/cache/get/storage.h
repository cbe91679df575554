// SPDX-License-Identifier: BSD-3-Clause

// The storage of the get cache: one arena, best fit, descriptors in address order (CLaMPI, section
// III.C.2-3).
//
// Free pieces are in bins by size: exact up to 63 granules, then 16 bins per power of two. Taking a
// piece is O(1) and within 1/16 of the best fit. Merging with free neighbours is O(1), because
// descriptors are linked in address order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/copy.h"
#include "base/region.h"
#include "cache/get/entry.h"

namespace nearcache {

class Storage {
 public:
  // 64 GiB: granule numbers have 32 bits
  static constexpr uint64_t most_bytes = (uint64_t{UINT32_MAX} - 1) * granule_bytes;

  // Returns the memory that `bytes` of storage take. If half or more of the last large page is
  // used, all of it is taken: without a large page, a copy of 4 KiB that was not used recently
  // takes 0.7 us instead of 0.4, because of the translation of a small page's address (measured in
  // a virtual machine, where that takes longest).
  static constexpr uint64_t backed_bytes(uint64_t bytes) {
    const uint64_t beyond = bytes % Region::large_page;
    return beyond >= Region::large_page / 2 ? bytes - beyond + Region::large_page : bytes;
  }

  // pre: `entries` has room for `most_entries` descriptors, `memory` for backed_bytes() of the
  // largest size ever passed to grow().
  void attach(std::byte* memory, Entry* entries, uint32_t most_entries, uint64_t bytes);

  // Returns a descriptor, unused until the caller fills it in; no_entry if all are in use.
  EntryId new_descriptor();
  void free_descriptor(EntryId id);

  // Sets the maximum number of descriptors (at most those that attach() had room for).
  void limit_descriptors(uint64_t count) {
    limit_ = count < most_entries_ ? static_cast<uint32_t>(count) : most_entries_;
  }

  // Gives `id` room for `bytes` bytes of data. Returns false if no free piece is large enough.
  bool allocate(EntryId id, uint64_t bytes);
  // Frees the storage of `id`, merging it with free neighbours, and its descriptor.
  void release(EntryId id);
  // Enlarges the storage of `id` in place. Returns false unless the piece behind it is free and
  // large enough.
  bool extend(EntryId id, uint64_t bytes);

  // Applies to the mapping of this process only: each process that shares the storage must call it.
  void prefer_large_pages() const {
    Region::prefer_large_pages(memory_.get(), backed_bytes(bytes()));
  }

  // For memory shared between processes. Returns true if the storage up to the end of `id` is in
  // large pages, as far as it consists of whole ones, except a last one of which little is used
  // yet. `*pages` counts the large pages so far.
  bool make_large_pages(EntryId id, uint32_t* pages) const {
    constexpr uint64_t little = Region::large_page / 32;
    const uint64_t end = uint64_t{entries_[id].place + length(id)} * granule_bytes;
    const uint64_t most = backed_bytes(bytes()) / Region::large_page;
    const uint64_t wanted =
        std::min((end - std::min(end, little) + Region::large_page - 1) / Region::large_page, most);
    for (; *pages < wanted; ++*pages) {
      if (!Region::make_large_pages(memory_.get() + *pages * Region::large_page,
                                    Region::large_page))
        return false;
    }
    return true;
  }

  // Prefetches what allocating this many bytes accesses.
  void prefetch(uint64_t bytes) const {
    __builtin_prefetch(this);
    __builtin_prefetch(&bins_[bin_of(granules_of(bytes))]);
    __builtin_prefetch(bin_used_);
  }

  std::byte* data(EntryId id) const { return data(entries_[id]); }
  std::byte* data(const Entry& entry) const {
    return memory_.get() + uint64_t{entry.place} * granule_bytes;
  }
  // Copies into the storage. Large data bypasses the processor's caches: most of it would have left
  // them before it is requested, and it would evict what the program works on.
  void store(std::byte* to, const std::byte* from, uint64_t bytes) const {
    if (bytes >= aside_bytes && this->bytes() >= aside_storage) {
      copy_aside(to, from, bytes);
    } else {
      copy_bytes(to, from, bytes);
    }
  }
  uint64_t room(EntryId id) const { return uint64_t{length(id)} * granule_bytes; }

  uint64_t bytes() const { return uint64_t{end_} * granule_bytes; }
  uint64_t free_bytes() const { return uint64_t{free_} * granule_bytes; }

  // Returns the bytes of free storage directly before and after `id` (CLaMPI's d_c).
  uint64_t free_around(EntryId id) const;

  // Move the end of the storage. Shrinking fails unless the part beyond the new end is free: last()
  // is then free space that begins no later than the new end.
  bool grow(uint64_t bytes);
  bool shrink(uint64_t bytes);
  EntryId last() const { return last_; }
  EntryId first() const { return first_; }
  // Walk the entries in address order, whatever becomes of those walked past.
  EntryId first_entry() const { return entry_from(first_); }
  EntryId entry_after(EntryId id) const { return entry_from(entries_[id].after); }

  uint32_t descriptors_touched() const { return touched_; }  // how many have memory; never falls
  uint32_t length(EntryId id) const {
    const EntryId after = entries_[id].after;
    return (after == no_entry ? end_ : entries_[after].place) - entries_[id].place;
  }

  void clear();

 private:
  // Measured on Zen 3 with other memory touched in between, as in a get over TCP: storing 16 KiB
  // takes 0.6 us instead of 1.1, 64 KiB 2.6 instead of 3.4, 4 KiB the same time. The first hit is
  // then served from memory; with a storage below this size, the bytes might have been found in a
  // cache.
  static constexpr uint64_t aside_bytes = 16 << 10, aside_storage = 1 << 20;
  static constexpr uint32_t exact_bins = 64;
  static constexpr uint32_t bin_count = exact_bins + 16 * 26;

  // Returns the piece, or the next one if it is free: of two neighbours, one is not.
  EntryId entry_from(EntryId id) const {
    return id != no_entry && entries_[id].state == State::free_space ? entries_[id].after : id;
  }
  static uint32_t bin_of(uint32_t granules);
  EntryId best_fit(uint32_t granules) const;
  EntryId best_in_bin(uint32_t bin, uint32_t granules, int most_looked_at) const;
  void add_to_bin(EntryId id);
  void remove_from_bin(EntryId id);
  void unlink(EntryId id);
  void absorb(EntryId neighbour);
  bool add_free(EntryId before, uint32_t place);

  Relative<std::byte> memory_;
  Relative<Entry> entries_;
  uint32_t most_entries_ = 0;
  uint32_t limit_ = 0;
  uint32_t touched_ = 0;
  uint32_t end_ = 0;   // granules
  uint32_t free_ = 0;  // granules
  EntryId first_ = no_entry;
  EntryId last_ = no_entry;
  EntryId pool_ = no_entry;
  EntryId bins_[bin_count];
  uint64_t bin_used_[(bin_count + 63) / 64];
};

}  // namespace nearcache
