// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/validity.h"

namespace nearcache::simulate {

void WrittenRanges::write(uint32_t target, int64_t from, int64_t to, uint64_t time) {
  if (to <= from) return;
  Pieces& pieces = targets_[target];
  auto at = pieces.upper_bound(from);
  if (at != pieces.begin() && std::prev(at)->second.to > from) --at;
  while (at != pieces.end() && at->first < to) {
    const int64_t begin = at->first;
    const Piece piece = at->second;
    at = pieces.erase(at);
    if (begin < from) pieces[begin] = {from, piece.time};
    if (piece.to > to) at = pieces.insert({to, piece}).first;
    if (piece.to > to) break;
  }
  pieces[from] = {to, time};
}

bool WrittenRanges::written_since(uint32_t target, int64_t from, int64_t to, uint64_t since) const {
  const auto found = targets_.find(target);
  if (found == targets_.end()) return false;
  const Pieces& pieces = found->second;
  auto at = pieces.upper_bound(from);
  if (at != pieces.begin() && std::prev(at)->second.to > from) --at;
  for (; at != pieces.end() && at->first < to; ++at) {
    if (at->second.time >= since) return true;
  }
  return false;
}

}  // namespace nearcache::simulate
