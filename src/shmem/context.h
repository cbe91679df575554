// The single context object of the OpenSHMEM front end: options, channels, symmetric memory, what
// the process knows about its job.
//
// Locks, taken only under SHMEM_THREAD_MULTIPLE: one per channel, held during every access to its
// cache except hits of the default context's, and during transfers that must not be overtaken;
// never while a call may wait for another PE's action. No two are held together.
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
  std::vector<std::string> option_errors;  // what was wrong with the environment, for PE 0 to tell

  HomeProcess home;
  bool started = false;
  int starts = 0;  // calls that began OpenSHMEM, less those that ended it
  bool finished = false;
  int thread_level = 0;       // SHMEM_THREAD_SINGLE, ...
  bool threaded = false;      // SHMEM_THREAD_MULTIPLE: channels lock
  bool caching = false;       // neither switched off nor kept from it
  std::string obstacle;       // why nothing may be cached, if so
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

  // Contexts in use are among the first `channels_used`; beyond the last, contexts are passed on
  // uncached.
  static constexpr size_t most_channels = 1024;
  Channel default_channel;
  std::array<std::atomic<Channel*>, most_channels> channels{};
  std::atomic<size_t> channels_used{0};

  // How many of the process' calls that order (shared.orderings) were acquires. A cache that is
  // used by one thread has seen all of them; others look before each use.
  std::atomic<uint64_t> acquires{0};

  // The call that was the last of these acquires; null: none was.
  std::atomic<const char*> acquired_by{nullptr};

  std::mutex mutex;  // covers what follows; contexts are created and destroyed rarely
  int64_t next_context_id = 1;
  // contexts that are gone; beyond some tens they share the last row
  std::vector<WindowReport> closed;

  void* report_scratch = nullptr;  // symmetric; null when no report is wanted

  // The channel of a context; null: not known, passed on uncached.
  Channel* find(shmem_ctx_t ctx) {
    const uint64_t bits = handle_bits(ctx);
    return default_channel.is(bits) ? &default_channel : find_other(bits);
  }
  Channel* find_other(uint64_t bits);
  Channel* open_channel(shmem_ctx_t ctx, bool owned, bool serialised, ChannelTeam team = {});

  // The context is about to be destroyed: everything written through it is complete.
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

  // The same for those that this thread may use, each with its lock.
  template <class Action>
  void each_usable_channel(Action action) {
    each_channel([&](Channel& channel) {
      if (channel.foreign()) return;
      const ChannelLock lock(&channel);
      if (channel.is_open() && !channel.foreign()) action(channel);  // not gone meanwhile
    });
  }

  // Something wants to know of every get and put: none is served by the quick way.
  bool watched() const { return check.on() || observer.tracing(); }

  // Nothing that any cache read before may be served after.
  void acquire();
  // A call that orders or completes was made: the word that is put next, through any context, may
  // be a flag.
  void ordered();
  // The same for all contexts but one, whose own writes have become visible: `seen_by_writer` is
  // its count.
  void acquire_others(uint64_t* seen_by_writer);
  // [object, object + bytes) of `owner`, as `writer` counts, was changed through it, and is there:
  // caches of other contexts drop what they read of it. No lock is held.
  void drop_in_others(Channel* writer, int owner, const void* object, size_t bytes);
  // Starts writing back in every context that this thread may use.
  void start_write_back();
};

extern Context& context;

// The cache that serves nothing.
PageCache* no_cache();

// Learns the job right after initialisation; allocates nothing but what a report needs. `level`: of
// threads.
void context_start(int level);

// The program ends: everything written is complete, nothing of ours runs any more. `report`: all
// PEs come here together.
void context_finish(bool report);

// The program ends without looking back: nothing of ours runs any more.
void context_abandon();

}  // namespace nearcache::shmem
