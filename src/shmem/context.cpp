// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/context.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/environment.h"
#include "base/log.h"
#include "shmem/cache_options.h"
#include "shmem/network_model.h"
#include "shmem/next.h"
#include "shmem/report_gather.h"
#include "shmem/visibility.h"
#include "telemetry/report_file.h"

namespace nearcache::shmem {

// Never destroyed: other threads and the exit handlers of the OpenSHMEM library may use it until
// the process ends.
Context& context = *new Context;
bool enabled = false;
constinit thread_local int inside = 0;
constinit thread_local bool unordered = false;
constinit thread_local const char* calling = nullptr;

static PageCache nothing;  // serves nothing
PageCache* quick_cache = &nothing;
constinit SharedCache shared;
constinit thread_local PageReader page_reader;
PageCache* no_cache() { return &nothing; }
bool nothing_cached = false;
constinit NearHeap near_heap;

Context::Context() : option_errors(options.read_environment(environment_all())) {
  set_log_level(static_cast<int>(std::min<uint64_t>(options.verbose, 2)));
  relaxed_atomics.store(options.shmem_relaxed_atomics);
  cache_options = page_cache_options(options, &option_errors);
}

Channel* Context::find_other(uint64_t bits) {
  thread_local Channel* last = nullptr;
  if (last != nullptr && last->is(bits)) return last;
  const size_t used = channels_used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    Channel* channel = channels[i].load(std::memory_order_relaxed);
    if (channel->is(bits)) return last = channel;
  }
  return nullptr;
}

Channel* Context::open_channel(shmem_ctx_t ctx, bool owned, bool serialised, ChannelTeam team) {
  const std::lock_guard lock(mutex);
  Channel* channel = nullptr;
  const size_t used = channels_used.load();
  for (size_t i = 0; i < used && channel == nullptr; ++i) {
    if (!channels[i].load()->is_open()) channel = channels[i].load();
  }
  const bool reused = channel != nullptr;
  if (!reused) {
    if (used == most_channels) return nullptr;
    channel = new Channel;
    channels[used].store(channel);
  }
  channel->open(ctx, next_context_id++, owned, serialised, std::move(team));
  if (!reused) channels_used.store(used + 1, std::memory_order_release);
  return channel;
}

void Context::close_channel(Channel* channel) {
  WindowReport report;
  {
    const ChannelLock lock(channel);
    channel->complete();
    report = report_of(*channel);
    channel->close();
  }
  report.counters.clear_gauges();
  constexpr size_t most_closed = 64;  // a report shows fewer; a program may create millions
  const std::lock_guard lock(mutex);
  if (closed.size() < most_closed) {
    closed.push_back(std::move(report));
  } else {
    closed.back().counters += report.counters;
  }
}

void Context::acquire() {
  if (nothing_cached) return;
  observer.acquire();
  profile.acquired(calling);
  acquired_by.store(calling, std::memory_order_relaxed);
  acquires.fetch_add(1, std::memory_order_acq_rel);
  ordered();
}

// Incremented after the count of acquires: a thread that sees this increment sees that one, too.
void Context::ordered() {
  if (nothing_cached) return;
  shared.orderings.fetch_add(1, std::memory_order_acq_rel);
  if (!threaded) default_channel.catch_up();
}

void Context::acquire_others(uint64_t* seen_by_writer) {
  if (channels_used.load(std::memory_order_acquire) == 0) return;
  profile.acquired(calling);
  const uint64_t before = acquires.fetch_add(1, std::memory_order_acq_rel);
  if (*seen_by_writer == before) *seen_by_writer = before + 1;
  ordered();
}

void Context::drop_in_others(Channel* writer, int owner, const void* object, size_t bytes) {
  if (writer == &default_channel && channels_used.load(std::memory_order_acquire) == 0) return;
  const int world_pe = writer->world_pe(owner);
  each_channel([&](Channel& channel) {
    if (&channel == writer) return;
    const ChannelLock lock(&channel);
    if (channel.ready_cache() == nullptr) return;
    const int its_pe = channel.pe_of(world_pe);
    if (its_pe >= 0)
      channel.ready_cache()->overtaken(its_pe, reinterpret_cast<uint64_t>(object), bytes);
  });
}

void Context::start_write_back() {
  if (nothing_cached) return;
  each_usable_channel([](Channel& channel) { channel.start_write_back(); });
}

namespace {

// Runs when the object is loaded, as we may never be called later.
[[maybe_unused]] const bool said_who_starts = [] {
  if (!context.options.shmem || !launched_as_first() || next_symbol("shmem_init") == nullptr)
    return false;
  const std::string past = what_starts_past_us();
  if (!past.empty()) log(LogLevel::warning, "nothing is cached: %s", past.c_str());
  return !past.empty();
}();

bool report_wanted() { return report_is_wanted(context.options.report); }

// Runs before the OpenSHMEM library's own exit handler, as it is registered later.
void at_exit() { context_finish(context.implicit_end); }

}  // namespace

void context_start(int level) {
  if (context.started) return;
  context.started = true;
  context.home.settle();
  context.started_ns = system_ns();
  context.thread_level = level;
  context.threaded = level == SHMEM_THREAD_MULTIPLE;
  {
    const Inside inside_library;
    context.pe = next.my_pe();
    context.pes = next.n_pes();
  }
  const std::string wrong = network_model_install(context.options.model);
  if (!wrong.empty()) context.option_errors.push_back(wrong);
  if (context.pe == 0) {
    for (const std::string& message : context.option_errors)
      log(LogLevel::warning, "%s", message.c_str());
  }
  const uint64_t limit = context.options.max_storage;
  context.budget.set_limit(limit != 0 ? limit : node_memory_bytes() / 10 / launched_on_node());
  context.memory.start(context.pes, context.pe, context.options.skip_cheap && !network_modelled(),
                       context.cache_options.line);
  if (report_wanted()) report_prepare();
  if (context.options.shmem) context.obstacle = next_usable() ? what_passes_by() : next_complaint();
  context.caching = context.options.shmem && context.obstacle.empty();
  if (!context.obstacle.empty() && context.pe == 0)
    log(LogLevel::warning, "nothing is cached: %s", context.obstacle.c_str());
  if (context.caching && context.options.shmem_check) context.check.start();
  if (context.caching && report_is_file(context.options.report)) {
    context.profile.start();
    context.cache_options.answers_told = true;
  }
  if (context.obstacle.empty() && next_usable()) context.observer.start();
  context.default_channel.open(SHMEM_CTX_DEFAULT, 0, false, false);
  enabled = context.caching || network_modelled() || context.observer.tracing();
  nothing_cached = context.caching && !context.threaded && !context.watched() &&
                   !context.profile.on() && !network_modelled();
  atexit(at_exit);
}

void context_finish(bool report) {
  if (!context.started || context.finished) return;
  // a forked child has only a copy of what the parent will write back
  if (!context.home.here()) return context_abandon();
  context.check.finish(context.pe);
  context.finished = true;
  if (enabled) {
    // Other threads' private ones, too: nobody else will complete them now.
    context.each_channel([](Channel& channel) {
      const ChannelLock lock(&channel);
      if (channel.is_open()) channel.complete();
    });
  }
  context.observer.stop();
  context_abandon();
  if (report && context.report_scratch != nullptr) report_write();
}

void context_abandon() {
  context.finished = true;
  enabled = false;
  quick_cache = no_cache();
  near_heap.close();
  shared.cache.store(nullptr, std::memory_order_release);
}

}  // namespace nearcache::shmem
