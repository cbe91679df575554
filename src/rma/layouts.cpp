// SPDX-License-Identifier: BSD-3-Clause
#include "rma/layouts.h"

namespace nearcache::rma {

SentLayouts::Sent* SentLayouts::use(const ElementLayout& layout, uint64_t share,
                                    std::vector<uint64_t>* take_back) {
  const auto known = std::ranges::find(sent_, layout.number, &Sent::number);
  if (known != sent_.end()) {
    sent_.splice(sent_.begin(), sent_, known);
  } else {
    const uint64_t cost = layout_cost(layout.blocks);
    uint64_t in_use = 0;
    size_t users = 0;
    for (const Sent& each : sent_) {
      if (each.users > 0) in_use += layout_cost(each.blocks), ++users;
    }
    if (in_use + cost > share || users == most) return nullptr;
    for (auto each = sent_.end(); cost_ + cost > share || sent_.size() == most;) {
      if ((--each)->users > 0) continue;
      take_back->push_back(each->number);
      cost_ -= layout_cost(each->blocks);
      each = sent_.erase(each);
    }
    sent_.push_front({layout.number, layout.blocks});
    cost_ += cost;
  }
  ++sent_.front().users;
  return &sent_.front();
}

void ToldLayouts::tell(int from, const Message& message) {
  constexpr uint64_t most_bytes = uint64_t{1} << 48;  // of an element; no sum comes near overflow
  const Head& head = message.head;
  Origin& origin = origins_[from];
  auto found = origin.layouts.find(head.token);
  if (found == origin.layouts.end()) {
    if (head.length > share_ || origin.cost + layout_cost(head.length) > share_) return;
    origin.cost += layout_cost(head.length);
    found = origin.layouts
                .emplace(head.token, Told{.extent = static_cast<int64_t>(head.offset),
                                          .expected = head.length,
                                          .blocks = {},
                                          .begins = {}})
                .first;
  }
  Told& told = found->second;
  for (const Piece& block : message.pieces) {
    if (told.blocks.size() == told.expected || block.length == 0 ||
        block.length > most_bytes - told.size)
      return;
    told.begins.push_back(told.size);
    told.blocks.push_back(block);
    told.size += block.length;
  }
}

void ToldLayouts::take_back(int from, uint64_t number) {
  const auto origin = origins_.find(from);
  if (origin == origins_.end()) return;
  const auto found = origin->second.layouts.find(number);
  if (found == origin->second.layouts.end()) return;
  origin->second.cost -= layout_cost(found->second.expected);
  origin->second.layouts.erase(found);
}

const ToldLayouts::Told* ToldLayouts::find(int from, uint64_t number) const {
  const auto origin = origins_.find(from);
  if (origin == origins_.end()) return nullptr;
  const auto found = origin->second.layouts.find(number);
  return found == origin->second.layouts.end() ? nullptr : &found->second;
}

}  // namespace nearcache::rma
