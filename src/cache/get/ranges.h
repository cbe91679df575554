// SPDX-License-Identifier: BSD-3-Clause

// Where contiguous entries lie in the memory of their targets. Finds the entry for a get of a part
// of it, or for a get that overlaps it.
//
// Memory is divided into blocks of 2^k bytes. An entry of more than 2^(k-1) and up to 2^k bytes
// touches one or two blocks of that size and is listed under each of them, in an index like that of
// the keys; a look-up of a byte searches once for every k in use. Listing and finding are O(1)
// wherever entries lie. If many entries overlap at one place, some of them are left out and are
// found only by their key.
//
// Nothing is listed before the first look-up. If look-ups find nothing, only one entry in 16 is
// listed and one look-up in 16 is made, until they find something.
#pragma once

#include <bit>
#include <cstdint>

#include "cache/get/entry.h"
#include "cache/get/index.h"

namespace nearcache {

class Ranges {
 public:
  static constexpr int most_alike = 8;  // entries listed under one block

  // Returns the bytes of memory needed for `capacity` entries.
  static uint64_t bytes_for(uint64_t capacity) { return Index::bytes_for(most_places(capacity)); }

  // `memory`: as for Index::attach. `used`: false if displacements cannot be compared in bytes
  // (displacement units differ).
  void attach(void* memory, Entry* entries, uint64_t capacity, bool used);

  void add(EntryId id) {
    if (lists(id)) add_listed(id);
  }
  void remove(EntryId id) {
    if (lists(id)) remove_listed(id);
  }

  // Block sizes in use: bit k for 2^k bytes.
  uint64_t levels() const { return levels_; }
  // Stores in `ids` the entries that hold byte `at` of `target`, among those listed for blocks of
  // 2^level bytes, and returns how many they are: at most `most_found`.
  static constexpr int most_found = 16;
  int holding(uint32_t target, int64_t at, int level, EntryId* ids) const;

  enum class Listed : uint8_t { none, some, all };
  Listed listed() const { return listed_; }
  // Returns true if a look-up should be made for the get with this number.
  bool asked(uint64_t get) const {
    return used_ &&
           (listed_ == Listed::none ||
            (levels_ != 0 && (listed_ == Listed::all || get * 0x9e3779b97f4a7c15u >> 60 == 0)));
  }
  // Records that a look-up was made, and whether it paid.
  void looked(bool paid) {
    paid_ += paid ? 1 : 0;
    ++looks_;
    const bool few = listed_ == Listed::some;
    if (few && paid_ >= paid_in_short_span) due_ = true;
    if (looks_ < (few ? short_span : span)) return;
    if (!few && paid_ < paid_in_span && !expected_) due_ = true;
    expected_ = false;
    looks_ = paid_ = 0;
  }
  // Tells that more than was requested is being fetched, so that parts of entries will be
  // requested: all entries stay listed for a while, however few parts were requested so far.
  void expect_parts() {
    expected_ = true;
    if (listed_ != Listed::some) due_ = false;
  }
  // Returns true if entries should be listed anew, more of them or fewer: by list_anew(), then
  // add() for each.
  bool change_is_due() const { return due_; }
  void list_anew(Listed which);

  void clear();
  // Empties it and makes room for `capacity` entries, to be listed again.
  void reset_capacity(uint64_t capacity);

  // Returns the memory in use, besides that of the entries.
  uint64_t bytes() const { return listed_ == Listed::none ? 0 : index_.bytes(); }

  // For tests: returns true if every entry that can be listed is listed.
  bool complete() const { return listed_ == Listed::all && left_out_ == 0; }
  uint64_t places() const { return index_.used(); }
  // Returns how many times `id` is listed.
  int places_of(EntryId id) const;

 private:
  static constexpr int lowest_level = 3;
  static constexpr uint32_t one_of = 16;  // with Listed::some, one entry or look-up in this many
  static int level_of(uint32_t bytes) {
    return bytes <= 1u << lowest_level ? lowest_level : 32 - std::countl_zero(bytes - 1);
  }
  static uint64_t hash_block(uint32_t target, int64_t block, int level) {
    return hash_key({block, target, static_cast<uint32_t>(level)});
  }
  // Half as many again as entries: enough for nearly all entries that touch two blocks.
  static uint64_t most_places(uint64_t capacity) {
    return capacity + capacity / 2 + Index::slots_per_bucket;
  }
  bool lists(EntryId id) const {
    return listed_ == Listed::all || (listed_ == Listed::some && id % one_of == 0);
  }
  void add_listed(EntryId id);
  void remove_listed(EntryId id);
  // Determines the blocks of an entry, from `first` to `last`. Returns false if it is not to be
  // listed.
  bool blocks_of(EntryId id, int* level, int64_t* first, int64_t* last) const;

  // A look-up costs some 50 ns, and so does listing; a hit saves microseconds.
  static constexpr uint32_t span = 256, paid_in_span = 8;
  static constexpr uint32_t short_span = 64, paid_in_short_span = 2;

  Index index_;
  uint64_t capacity_ = 0;
  Relative<Entry> entries_;
  uint64_t levels_ = 0;
  bool used_ = false, due_ = false, expected_ = false;
  Listed listed_ = Listed::none;
  uint32_t looks_ = 0, paid_ = 0;
  uint64_t left_out_ = 0;
  uint32_t count_[33] = {};  // listed places by level
};

}  // namespace nearcache
