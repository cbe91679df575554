// Where contiguous entries lie in the memory of their targets, so that a get of a part of one, or
// one that overlaps it, finds it.
//
// Memory is divided into blocks of 2^k bytes. An entry of more than 2^(k-1) and up to 2^k bytes
// touches one or two blocks of that size and is listed under each, in an index like that of keys;
// a look-up of a byte asks once for every k in use. Listing and finding are O(1) wherever entries
// lie: of many that overlap each other at one place some are left out, and found only by their
// key.
//
// Nothing is listed before the first look-up. If look-ups find nothing, one entry in 16 is listed
// and one look-up in 16 is made, until they find something.
#pragma once

#include <bit>
#include <cstdint>

#include "cache/get/entry.h"
#include "cache/get/index.h"

namespace nearcache {

class Ranges {
 public:
  static constexpr int most_alike = 8;  // entries listed under one block

  // For so many entries.
  static uint64_t bytes_for(uint64_t capacity) { return Index::bytes_for(most_places(capacity)); }

  // `memory` as Index::attach. `used` false: there are no bytes of targets to look for
  // (displacement units differ).
  void attach(void* memory, Entry* entries, uint64_t capacity, bool used);

  void add(EntryId id) {
    if (lists(id)) add_listed(id);
  }
  void remove(EntryId id) {
    if (lists(id)) remove_listed(id);
  }

  // Sizes of blocks in use, bit k for 2^k bytes.
  uint64_t levels() const { return levels_; }
  // The entries listed for blocks of 2^level bytes that hold byte `at` of `target`; at most
  // `most_found`. Returns how many.
  static constexpr int most_found = 16;
  int holding(uint32_t target, int64_t at, int level, EntryId* ids) const;

  enum class Listed : uint8_t { none, some, all };
  Listed listed() const { return listed_; }
  // Is the look-up of a get with this number to be made?
  bool asked(uint64_t get) const {
    return used_ &&
           (listed_ == Listed::none ||
            (levels_ != 0 && (listed_ == Listed::all || get * 0x9e3779b97f4a7c15u >> 60 == 0)));
  }
  // It was: did it pay?
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
  // More than what was asked for is fetched, so that parts will be asked for: however few were so
  // far, all stay listed a while.
  void expect_parts() {
    expected_ = true;
    if (listed_ != Listed::some) due_ = false;
  }
  // All entries are to be listed anew, by `list_anew` and `add` for each: more of them, or fewer.
  bool change_is_due() const { return due_; }
  void list_anew(Listed which);

  void clear();
  // Empties it and makes room for so many entries; to be listed again.
  void reset_capacity(uint64_t capacity);

  // Memory in use beside that of the entries.
  uint64_t bytes() const { return listed_ == Listed::none ? 0 : index_.bytes(); }

  // For tests: every entry that can be listed is.
  bool complete() const { return listed_ == Listed::all && left_out_ == 0; }
  uint64_t places() const { return index_.used(); }
  // How many times `id` is listed.
  int places_of(EntryId id) const;

 private:
  static constexpr int lowest_level = 3;
  static constexpr uint32_t one_of = 16;  // is listed, of some
  static int level_of(uint32_t bytes) {
    return bytes <= 1u << lowest_level ? lowest_level : 32 - std::countl_zero(bytes - 1);
  }
  static uint64_t hash_block(uint32_t target, int64_t block, int level) {
    return hash_key({block, target, static_cast<uint32_t>(level)});
  }
  // Half as many blocks again as entries: there is a place for nearly all that touch two.
  static uint64_t most_places(uint64_t capacity) {
    return capacity + capacity / 2 + Index::slots_per_bucket;
  }
  bool lists(EntryId id) const {
    return listed_ == Listed::all || (listed_ == Listed::some && id % one_of == 0);
  }
  void add_listed(EntryId id);
  void remove_listed(EntryId id);
  // The blocks of an entry; false if it is not to be listed.
  bool blocks_of(EntryId id, int* level, int64_t* first, int64_t* last) const;

  // A look-up costs some 50 ns and listing as much, a hit saves microseconds.
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
  uint32_t count_[33] = {};  // places by level
};

}  // namespace nearcache
