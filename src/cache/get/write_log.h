// SPDX-License-Identifier: BSD-3-Clause

// Which bytes of which targets this rank has written itself, so that no entry older than a write is
// served.
//
// Recording a write is O(1): the write gets a number, which is entered in a filter of 512-byte
// pieces and in a log of the most recent writes. An entry carries the number of the last write it
// was found valid under. Only if there were later writes is anything looked up, and only if the
// filter says "perhaps" is the log searched. If the log no longer reaches back far enough,
// "perhaps" counts as overwritten.
#pragma once

#include <cstdint>

#include "cache/get/entry.h"

namespace nearcache {

class WriteLog {
 public:
  void clear();

  // Records that bytes [from, to) of `target` are being written. Returns false if the numbers are
  // used up: then drop everything and call clear().
  bool record(uint32_t target, int64_t from, int64_t to) {
    if (now_ == UINT32_MAX) return false;
    ++now_;
    log_[now_ % log_size] = {from, to, target};
    targets_[target % filter_size] = now_;
    if (to <= from) return true;
    int64_t piece = from >> piece_bits;
    const int64_t last = (to - 1) >> piece_bits;
    if (static_cast<uint64_t>(last - piece) >= most_pieces) {
      longs_[target % filter_size] = now_;
      return true;
    }
    do pieces_[slot(target, piece)] = now_;
    while (piece++ != last);
    return true;
  }

  uint32_t now() const { return now_; }

  // Returns true if a byte of [from, to) of `target` was written after `since`. May have false
  // positives for neighbouring bytes, but no false negatives.
  bool overwritten(uint32_t target, int64_t from, int64_t to, uint32_t since) const {
    return since != now_ && search(target, from, to, since);
  }

 private:
  static constexpr int piece_bits = 9;
  static constexpr uint64_t most_pieces = 32;  // longer writes are recorded by target only
  static constexpr uint32_t filter_size = 1024;
  static constexpr uint32_t log_size = 64;

  struct Write {
    int64_t from, to;
    uint32_t target;
  };

  bool search(uint32_t target, int64_t from, int64_t to, uint32_t since) const;
  static uint32_t slot(uint32_t target, int64_t piece) {
    return static_cast<uint32_t>(hash_key({piece, target, 0})) % filter_size;
  }

  uint32_t now_ = 0;
  uint32_t pieces_[filter_size];   // by target and piece: number of the last short write
  uint32_t targets_[filter_size];  // by target: number of the last write of any length
  uint32_t longs_[filter_size];    // by target: number of the last long write
  Write log_[log_size];
};

}  // namespace nearcache
