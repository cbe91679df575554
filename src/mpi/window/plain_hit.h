// SPDX-License-Identifier: BSD-3-Clause

// The path of a hit: from the handle to the window, and from its cache to the origin.
#pragma once

#include "base/copy.h"
#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/window/get_call.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

// Finds the window of a handle on hot paths: a program mostly uses the same window as last time.
inline Window* find_window(MPI_Win handle) {
  Window* last = context.last_window;
  if (last != nullptr && last->handle() == handle) return last;
  Window* window = context.windows.find(handle);
  if (!context.threaded) context.last_window = window;
  return window;
}

// Whether a call on the window last used concerns nobody but MPI and the window: it is paused, no
// lock has to be passed down first, and no rank has to be told of a write. Each condition is
// checked once, so that entry points need few registers.
[[gnu::always_inline]] inline bool passes_plainly(const Window* window, MPI_Win handle) {
  return window != nullptr && window->handle() == handle && window->paused() &&
         !context.phases.somebody_may_read() && !context.coherence.somebody_may_read() &&
         !locks_wait();
}

[[gnu::always_inline]] inline bool Window::serve_plain_hit(const GetCall& call) {
  GetCache* cache = cached_.cache();
  if (static_cast<uint32_t>(call.target) >= epochs().ranks() || cache == nullptr) return false;
  if (transparent_) {
    if (!context.phases.quiet() || !cached_.has_room_to_store() || locks_deferred()) return false;
    if (!shares_) cache->set_generation(context.acquires.now());
  }
  if (call.origin_type != call.target_type || call.origin_count != call.target_count ||
      call.origin_count <= 0)
    return false;
  if (call.origin_type != plain_type_) return false;
  if (!epochs().open(static_cast<uint32_t>(call.target))) return false;
  Key key;
  if (__builtin_mul_overflow(static_cast<int64_t>(call.displacement), plain_unit_,
                             &key.displacement))
    return false;
  key.target = static_cast<uint32_t>(call.target);
  // a large count: its size is computed with overflow checks elsewhere
  if (call.origin_count > plain_count_limit) return false;
  const uint64_t bytes = plain_type_size_ * static_cast<uint64_t>(call.origin_count);
  // size 0: no type is known yet; a null buffer is an error, which MPI reports
  if (bytes == 0 || call.origin == nullptr) [[unlikely]]
    return false;
  // After a part of an entry, the next get mostly is another part of it.
  if (parts_follow_ && serve_plain_part(key, bytes, call.origin)) return true;
  const uint64_t hash = hash_key(key);
  if (shares_) return serve_plain_hit_shared(key, hash, bytes, call.origin);
  bool absent = false;
  const Entry* entry = cache->find_hit(hash, key, bytes, &absent);
  if (entry == nullptr) return absent && serve_absent(key, hash, bytes, call.origin);
  if (transparent_ && cached_.polls(key)) return false;
  copy_word_or_bytes(call.origin, cache->data(*entry), bytes);
  cache->count_hit(entry, bytes);
  count_plain_hit(key, bytes);
  return true;
}

}  // namespace nearcache::mpi
