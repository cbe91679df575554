// SPDX-License-Identifier: BSD-3-Clause

// Calls that order, complete or wait, and what each means to the caches
// (docs/semantics-openshmem.md).
#include "shmem/context.h"
#include "shmem/next.h"

namespace nearcache::shmem {
namespace {

void complete_default() {
  context.observer.sync(context.default_channel, TraceSync::release);
  const ChannelLock lock(&context.default_channel);
  context.default_channel.complete();
}

// Completes the default context's writes and starts those of other contexts. While nothing is
// cached, only what was put where loads and stores do not reach may not have arrived; not every
// library completes that in the call that follows (Open MPI's shmem_clear_lock does not).
void release() {
  if (nothing_cached && !context.default_channel.wrote()) return;
  complete_default();
  context.start_write_back();
}

// What an earlier access that bypassed the cache has left to be done stays to be done, in case
// there is a cache by the next call.
template <class Call>
void passed_on(Channel* channel, Call call) {
  channel->tallies.quiets_passed += 1;
  const Inside inside_library;
  call();
}

}  // namespace

void quiet(shmem_ctx_t ctx) {
  Channel* channel = context.find(ctx);
  if (nothing_cached && channel == &context.default_channel) {
    passed_on(channel, next.quiet);
    return near_heap.let_go();
  }
  if (context.check.on()) context.check.called(calling, false);
  if (channel == nullptr) {  // what was written through the context is visible now
    {
      const Inside inside_library;
      next.ctx_quiet(ctx);
    }
    return context.acquire();
  }
  {
    const ChannelLock lock(channel);
    channel->tallies.quiets_passed += 1;
    context.observer.sync(*channel, TraceSync::quiet);
    channel->complete();
  }
  context.ordered();
}

void fence(shmem_ctx_t ctx) {
  Channel* channel = context.find(ctx);
  if (nothing_cached && channel == &context.default_channel) return passed_on(channel, next.fence);
  if (context.check.on()) context.check.called(calling, false);
  if (channel == nullptr) {
    const Inside inside_library;
    next.ctx_fence(ctx);
  } else {
    const ChannelLock lock(channel);
    channel->tallies.quiets_passed += 1;
    context.observer.sync(*channel, TraceSync::order);
    channel->start_write_back();
    channel->fence();
  }
  context.ordered();
}

Wait::Wait() {
  if (!nothing_cached) {
    context.observer.sync(context.default_channel, TraceSync::write_back);
    context.start_write_back();
  }
  ++inside;
}
Wait::~Wait() {
  --inside;
  context.acquire();
}

Test::Test() {
  if (!nothing_cached && !unordered) {
    context.observer.sync(context.default_channel, TraceSync::write_back);
    context.start_write_back();
  }
  ++inside;
}
Test::~Test() {
  --inside;
  if (succeeded_ && !unordered) context.acquire();
}

Barrier::Barrier() {
  release();
  ++inside;
}
Barrier::~Barrier() {
  --inside;
  context.acquire();
  near_heap.let_go();
}

Unknown::Unknown() {
  context.each_usable_channel([](Channel& channel) { channel.complete(); });
  ++inside;
}
Unknown::~Unknown() {
  --inside;
  near_heap.hold();
  context.each_usable_channel([](Channel& channel) {
    channel.wrote_directly();
    channel.fetches_outstanding();
  });
  context.acquire();
}

Release::Release(bool synchronises) : synchronises_(synchronises) {
  release();
  ++inside;
}
Release::~Release() {
  --inside;
  synchronises_ ? context.acquire() : context.ordered();
}

}  // namespace nearcache::shmem
