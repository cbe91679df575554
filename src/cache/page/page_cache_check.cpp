// SPDX-License-Identifier: BSD-3-Clause

// Checks those invariants of the page cache that its state shows (for their numbers see
// page_cache.h). Tests call this after every operation.
#include <bit>

#include "cache/page/page_cache.h"

namespace nearcache {

const char* PageCache::broken() const {
  if (const char* what = pool_.broken()) return what;
  if (const char* what = masks_.broken()) return what;
  size_t masks = 0;
  uint64_t valid_lines = 0;
  for (uint32_t i = 0; i < pool_.frames(); ++i) {
    const Page& page = pool_[i];
    if ((page.ahead & ~page.valid) != 0) return "1: a line is ahead and not valid";
    if (page.quick != (page.valid & ~page.ahead))
      return "2: the lines to serve at once are not those valid and used";
    if ((page.pending & page.valid) != 0) return "3: a line is here and on its way";
    if (page.queue == 0) continue;
    if (page.epoch == epoch_) valid_lines += static_cast<uint64_t>(std::popcount(page.valid));
    if (!awaited(page)) return "4: a line waits for what nobody has asked for";
    if (page.written == 0) continue;
    ++masks;
    Mask& m = written(page);
    if (m.page != i) return "5: a mask belongs to another page";
    if (dirty(m).empty() && flying(m).empty()) return "5: a page has a mask and no written byte";
    if (!dirty(m).empty() && !maybe_dirty_) return "8: a byte is dirty, and nobody knows";
    if (!flying(m).empty() && !puts_flying_) return "8: a byte is in flight, and nobody knows";
  }
  if (masks_.used() != masks) return "5: written pages and masks differ in number";
  if (valid_lines != valid_lines_) return "16: valid lines are counted wrongly";
  if (!lost_.covers(unfenced_)) return "9: what awaits a fence awaits no quiet";
  return nullptr;
}

// Returns true if every line that is pending since the last acquire is part of an arrival requested
// since then.
bool PageCache::awaited(const Page& page) const {
  if (page.epoch != epoch_) return true;
  for (uint64_t missing = page.pending; missing != 0; missing &= missing - 1) {
    const uint64_t line =
        address_of(page) + (static_cast<uint64_t>(std::countr_zero(missing)) << line_shift_);
    bool found = false;
    for (size_t i = 0; i < arrivals_->count() && !found; ++i) {
      const Arrivals::Arrival& a = (*arrivals_)[i];
      found = a.pe == page.pe && a.epoch == epoch_ && a.begin < line + line_bytes() && line < a.end;
    }
    if (!found) return false;
  }
  return true;
}

}  // namespace nearcache
