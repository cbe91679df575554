// SPDX-License-Identifier: BSD-3-Clause

// What a window reports to the observer: its gets, writes and sizes (observer.h).
#include <utility>

#include "mpi/window/window.h"

namespace nearcache::mpi {

// Where units differ between ranks it is not known which bytes a get touches: a trace has as many
// as it fetches, from its displacement on.
void Window::tell(Outcome outcome, const RemoteGet& get, uint64_t from_cache) {
  const bool own = get.key.target == static_cast<uint32_t>(identity_.rank);
  const bool known = identity_.unit != 0;
  const int64_t lowest = known ? get.from : get.key.displacement;
  const uint64_t span =
      known ? static_cast<uint64_t>(get.to) - static_cast<uint64_t>(get.from) : get.bytes;
  const bool due =
      context.observer.get({identity_.id, outcome, get.key.target, get.key.displacement, get.bytes,
                            from_cache, get.key.layout, lowest, span, get.hash, of_another(), own});
  if (due) tell_levels();
}

void Window::tell_plain_hit(Key key, uint64_t bytes) {
  if (context.observer.only_tracing()) [[likely]]
    return context.observer.trace_hit(identity_.id, key.target, key.displacement, bytes);
  const bool due = context.observer.get({identity_.id, Outcome::full, key.target, key.displacement,
                                         bytes, bytes, 0, 0, 0, hash_key(key), of_another()});
  if (due) tell_levels();
}

// Returns whether the last get was served data fetched by another rank of the node.
bool Window::of_another() {
  if (!shares_) return false;
  const uint64_t before = std::exchange(of_others_told_, cached_.shared()->hits_of_others());
  return of_others_told_ > before;
}

void Window::tell_plain_flush(int target) {
  if (context.observer.only_tracing()) [[likely]]
    return context.observer.trace_flush(identity_.id, target);
  observe_sync(TraceSync::flush, targets(target));
}

void Window::tell_levels() {
  ProfileLevels now;
  if (shares_) {
    constexpr uint32_t seldom = 64;  // all parts of the cache are inspected, under their locks
    if (shared_levels_looks_++ % seldom != 0) return;
    const SharedCache::Sizes part = cached_.shared()->part();
    now = {part.storage_bytes, part.stored_bytes, part.index_entries, part.entries};
  } else if (const GetCache* cache = cached_.cache(); cache != nullptr)
    now = {cache->storage_bytes(), cache->stored_bytes(), cache->index_capacity(),
           cache->entries()};
  context.observer.levels(levels_told_, now);
  levels_told_ = now;
}

Window::Decision Window::observe_uncached(const GetCall& call, bool request) {
  Decision decision;
  if (!valid_target(call.target) || !understand(call, &decision.get)) return decision;
  tell(Outcome::uncached, decision.get, 0);
  decision.sampled = miss_is_sampled(static_cast<uint32_t>(call.target), request);
  return decision;
}

// A trace records one target, or -1 for all. A call that concerns no target is still an acquire.
void Window::observe_sync(TraceSync kind, Targets targets) {
  if (targets.is_none()) {
    context.observer.acquire();
  } else {
    context.observer.sync(identity_.id, kind,
                          targets.is_all() ? -1 : static_cast<int>(targets.rank()));
  }
}

void Window::observe_write(TraceWrite kind, const Write& write) {
  if (write.target.is_one() && write.from != write.to)
    context.observer.write(identity_.id, kind, static_cast<int>(write.target.rank()), write.from,
                           write.to);
}

}  // namespace nearcache::mpi
