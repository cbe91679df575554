// The invariants of the page cache, for tests that check them after every operation.
#include "cache/page/page_cache.h"

namespace nearcache {

const char* PageCache::broken() const {
  if (const char* what = pool_.broken()) return what;
  size_t masks = 0;
  for (uint32_t i = 0; i < pool_.frames(); ++i) {
    const Page& page = pool_[i];
    if ((page.ahead & ~page.valid) != 0) return "a line is ahead and not valid";
    if (page.quick != (page.valid & ~page.ahead)) return "the lines to serve at once are not those valid and used";
    if ((page.pending & page.valid) != 0) return "a line is here and on its way";
    if (page.queue == 0) continue;
    if (page.written == 0) continue;
    ++masks;
    Written& w = written(page);
    if (w.page != i) return "a mask belongs to another page";
    if (dirty(w).empty() && flying(w).empty()) return "a page has a mask and no written byte";
    if (!dirty(w).empty() && !maybe_dirty_) return "a byte is dirty, and nobody knows";
    if (!flying(w).empty() && !puts_flying_) return "a byte is in flight, and nobody knows";
  }
  size_t listed = 0, free = 0;
  for (uint32_t i = oldest_written_; i != none; i = written_at(i).newer)
    if (++listed > options_.dirty_pages) return "the list of written pages has a circle";
  for (uint32_t i = free_written_; i != none; i = written_at(i).older)
    if (++free > options_.dirty_pages) return "the list of free masks has a circle";
  if (listed != masks) return "written pages and masks differ in number";
  if (listed + free != options_.dirty_pages) return "a mask is lost";
  return nullptr;
}

}  // namespace nearcache
