// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/context.h"

#include <algorithm>

#include "base/environment.h"
#include "base/log.h"
#include "mpi/process/insist.h"
#include "mpi/process/network_model.h"
#include "mpi/process/next.h"
#include "mpi/process/report_gather.h"
#include "mpi/rma/elements_of.h"
#include "mpi/rma/layer.h"
#include "mpi/types/type_table.h"
#include "mpi/window/window.h"
#include "telemetry/report_file.h"

namespace nearcache::mpi {

// Constructed before static objects of a program that this is linked into, since they may start
// MPI.
[[gnu::init_priority(102)]] Immortal<Context> immortal_context;

namespace {

// Completes the trace of a program that ends without MPI_Finalize.
struct AtExit {
  ~AtExit() {
    if (context.home.here()) context.observer.close();
  }
} at_exit;

}  // namespace

Context::Context() : option_errors(options.read_environment(environment_all())) {
  set_log_level(static_cast<int>(std::min<uint64_t>(options.verbose, 2)));
}

void context_limit_memory() {
  // A library told to avoid shared memory treats every rank as a node of its own. Launchers know
  // better, or say nothing.
  static const uint64_t memory = node_memory_bytes(), launched = launched_on_node();
  const uint64_t here = std::max(launched, context.world.most_on_node());
  context.budget.set_limit(context.options.max_storage != 0 ? context.options.max_storage
                                                            : memory / 10 / here);
}

// The highest thread level of MPI_Init and the sessions applies to all: windows of one are used by
// threads of another.
static void learn_threads(bool multiple) {
  int provided = MPI_THREAD_SINGLE;
  if (World::model_is_open()) next.Query_thread(&provided);
  if (context.threaded || (!multiple && provided != MPI_THREAD_MULTIPLE)) return;
  context.threaded = true;
  context.last_window = nullptr;
  rma_threads_come();
  context.observer.threads_came();
  context.coherence.threads_came();
  // With several threads phases are no longer counted, so what this rank announced in this phase
  // does not cover what follows.
  context.phases.miscounted();
  for (Window* window : context.windows.all()) window->leave_short_ways();
}

void context_begin(bool threads) {
  if (context.started_ns == 0) context.started_ns = system_ns();
  learn_threads(threads);
}

void context_start() {
  context_begin(false);
  const std::lock_guard lock(context.mutex);
  if (!context.world.known() && !(context.model_ends && World::model_is_open())) {
    context.world.start(&context.rank, &context.ranks);
    if (context.world.known()) context.progress.start();
  }
  if (context.started) return;
  context.started = true;
  context.host_defects = HostDefects(library_line());
  context.home.settle();
  if (context.rank == 0) {
    for (const std::string& message : context.option_errors)
      log(LogLevel::warning, "%s", message.c_str());
  }
  context_limit_memory();
  context.progress.configure(context.options.progress_calls, context.options.progress_time);
  context.phases.configure(context.options.longest_age, repeats_before_asking());
  const std::string wrong = network_model_install(context.options.model);
  if (!wrong.empty() && context.rank == 0) log(LogLevel::warning, "%s", wrong.c_str());
  context.world.offer_report(report_is_wanted(context.options.report));
  rma_install(context.options.rma);
  context.observer.start();
}

uint32_t repeats_before_asking() {
  const auto by_ranks = static_cast<uint64_t>(std::max(context.ranks / 2, 1));
  return static_cast<uint32_t>(std::min(context.options.quiet_after, by_ranks));
}

static void tell_of_mode_user() {
  if (context.rank != 0 || !context.invalidate_was_awaited.exchange(false) || context.invalidates)
    return;
  log(LogLevel::warning,
      "mode user: the program never called nearcache_invalidate, so windows that name no mode were "
      "cached in mode transparent");
}

// MPI may begin again, with a session, and give what it then makes handles that are known today.
static void forget_handles() {
  {
    const std::lock_guard lock(context.mutex);
    free_keyval(next.Win_free_keyval, &context.window_keyval);
  }
  context.world.forget_keyval();
  forget_types();
  known_elements.clear();
}

void context_stop(bool for_good) {
  if (!context.home.here()) return;
  tell_of_mode_user();
  if (context.world.known()) context_report();
  if (for_good) context.observer.stop();
  context.coherence.stop();
  context.phases.stop();
  const bool mpi_goes_on = context.sessions != 0;
  rma_stop(mpi_goes_on);
  if (!mpi_goes_on) context.progress.stop();
  context.world.stop();
  for (Window* window : context.windows.all()) window->leave_short_ways();
  if (!mpi_goes_on) forget_handles();
}

}  // namespace nearcache::mpi
