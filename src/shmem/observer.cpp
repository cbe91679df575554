// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/observer.h"

#include "base/environment.h"
#include "shmem/context.h"
#include "shmem/network_model.h"
#include "shmem/report_gather.h"
#include "telemetry/report_file.h"

namespace nearcache::shmem {

template <class Record>
void Observer::record(Record record) {
  if (!tracing()) [[likely]]
    return;
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  if (tracing()) record();
}

void Observer::start() {
  if (context.options.trace.empty()) return;
  TraceOrigin origin{static_cast<uint32_t>(context.pe),
                     static_cast<uint32_t>(context.pes),
                     host_name(),
                     program_name(),
                     library_line(),
                     network_model_label()};
  origin.api = "OpenSHMEM";
  tracing_ = trace_.start(context.options.trace, origin);
}

void Observer::stop() {
  record([&] {
    tracing_ = false;
    trace_.stop("PE", context.pe);
  });
}

void Observer::get(const Channel& channel, Outcome outcome, int pe, uint64_t address,
                   size_t bytes) {
  record([&] {
    trace_.get(static_cast<uint64_t>(channel.id()), outcome,
               static_cast<uint32_t>(channel.world_pe(pe)), context.memory.place(address), bytes);
  });
}

void Observer::write(const Channel& channel, TraceWrite kind, int pe, uint64_t address,
                     size_t bytes) {
  record([&] {
    trace_.write(static_cast<uint64_t>(channel.id()), kind,
                 static_cast<uint32_t>(channel.world_pe(pe)), context.memory.place(address), bytes);
  });
}

void Observer::sync(const Channel& channel, TraceSync kind) {
  record([&] { trace_.sync(static_cast<uint64_t>(channel.id()), kind, -1); });
}

void Observer::acquire() {
  record([&] { trace_.acquire(); });
}

void Observer::cost(TraceCost what, uint64_t bytes, uint64_t ns) {
  constexpr uint64_t all = 256, every = 16;
  record([&] {
    const uint64_t n = costs_[static_cast<size_t>(what)]++;
    if (n < all || n % every == 0) trace_.cost(bytes, ns, what);
  });
}

void Observer::opened(const Channel& channel) {
  record([&] {
    TracedWindow window;
    window.id = static_cast<uint64_t>(channel.id());
    window.rank = static_cast<uint32_t>(context.pe);
    window.ranks = static_cast<uint32_t>(context.pes);
    window.name = channel.id() == 0 ? "default context" : "context " + std::to_string(channel.id());
    trace_.window_created(window);
  });
}

void Observer::closed(const Channel& channel) {
  record([&] { trace_.window_freed(static_cast<uint64_t>(channel.id())); });
}

}  // namespace nearcache::shmem
