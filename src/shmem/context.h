// SPDX-License-Identifier: BSD-3-Clause

// The global state of the OpenSHMEM front end: options, channels, symmetric memory, and what the
// process knows about its job.
//
// Locks are taken only under SHMEM_THREAD_MULTIPLE. There is one per channel. It is held during
// every access to the channel's cache, except for hits in the default context's, and during
// transfers that must not be overtaken; never while a call may wait for another PE. No thread holds
// two of them.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/options.h"
#include "base/process.h"
#include "shmem/access_profile.h"
#include "shmem/channel.h"
#include "shmem/hit_check.h"
#include "shmem/hooks.h"
#include "shmem/observer.h"
#include "shmem/symmetric_memory.h"
#include "telemetry/report.h"
#include "telemetry/stats.h"

namespace nearcache::shmem {

struct Context {
  Context();  // reads the options from the environment

  Options options;
  PageCacheOptions cache_options;
  std::vector<std::string> option_errors;  // mistakes in the environment, which PE 0 reports

  HomeProcess home;
  bool started = false;
  int starts = 0;  // calls that initialised OpenSHMEM, minus those that finalised it
  bool finished = false;
  int thread_level = 0;       // SHMEM_THREAD_SINGLE, ...
  bool threaded = false;      // SHMEM_THREAD_MULTIPLE: channels lock
  bool caching = false;       // neither switched off nor impossible
  std::string obstacle;       // why nothing may be cached; empty if it may
  bool implicit_end = false;  // start_pes: the program ends without shmem_finalize
  int pe = 0;
  int pes = 1;
  uint64_t started_ns = 0;
  std::atomic<bool> relaxed_atomics{false};
  MemoryBudget budget;
  HitCheck check;
  Observer observer;
  AccessProfile profile;
  SymmetricMemory memory;

  // Contexts in use are among the first `channels_used`. If all channels are taken, further
  // contexts are passed on uncached.
  static constexpr size_t most_channels = 1024;
  Channel default_channel;
  std::array<std::atomic<Channel*>, most_channels> channels{};
  std::atomic<size_t> channels_used{0};

  // How many of the process's ordering calls (shared.orderings) were acquires. A cache used by a
  // single thread has seen them all; others check before each use.
  std::atomic<uint64_t> acquires{0};

  // The name of the last call that was an acquire; null if there was none.
  std::atomic<const char*> acquired_by{nullptr};

  std::mutex mutex;  // guards the members below; contexts are created and destroyed rarely
  int64_t next_context_id = 1;
  // destroyed contexts; beyond some tens they share the last row
  std::vector<WindowReport> closed;

  void* report_scratch = nullptr;  // symmetric; null when no report is wanted

  // The channel of a context; null if it is unknown and therefore passed on uncached.
  Channel* find(shmem_ctx_t ctx) {
    const uint64_t bits = handle_bits(ctx);
    return default_channel.is(bits) ? &default_channel : find_other(bits);
  }
  Channel* find_other(uint64_t bits);
  Channel* open_channel(shmem_ctx_t ctx, bool owned, bool serialised, ChannelTeam team = {});

  // Called before the context is destroyed: everything written through it is complete.
  void close_channel(Channel* channel);

  template <class Action>
  void each_channel(Action action) {
    action(default_channel);
    const size_t used = channels_used.load(std::memory_order_acquire);
    for (size_t i = 0; i < used; ++i) {
      Channel* channel = channels[i].load(std::memory_order_relaxed);
      if (channel->is_open()) action(*channel);
    }
  }

  // Like each_channel(), but only for channels that this thread may use, each with its lock held.
  template <class Action>
  void each_usable_channel(Action action) {
    each_channel([&](Channel& channel) {
      if (channel.foreign()) return;
      const ChannelLock lock(&channel);
      if (channel.is_open() && !channel.foreign()) action(channel);  // still open
    });
  }

  // True if something must see every get and put, so that none may take the fast path.
  bool watched() const { return check.on() || observer.tracing(); }

  // From now on no cache serves what it read before.
  void acquire();
  // Called after a call that orders or completes writes: the next word that is put, through any
  // context, may be a flag.
  void ordered();
  // Like acquire(), but for all contexts except one, whose own writes have become visible;
  // `seen_by_writer` is that context's count.
  void acquire_others(uint64_t* seen_by_writer);
  // `writer` has changed [object, object + bytes) of PE `owner` (in `writer`'s numbering), and the
  // change has arrived: caches of other contexts drop what they read of it. Called without a lock.
  void drop_in_others(Channel* writer, int owner, const void* object, size_t bytes);
  // Starts write-back in every context that this thread may use.
  void start_write_back();
};

extern Context& context;

// A cache that serves nothing.
PageCache* no_cache();

// Called right after initialisation; allocates nothing but what a report needs. `level` is the
// thread level.
void context_start(int level);

// Called when the program ends: completes everything written; afterwards nothing of ours runs.
// `report`: all PEs make this call together.
void context_finish(bool report);

// Called when the program ends abruptly: afterwards nothing of ours runs.
void context_abandon();

}  // namespace nearcache::shmem
