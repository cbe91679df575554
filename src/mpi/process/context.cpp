#include "mpi/process/context.h"

#include <algorithm>

#include "base/environment.h"
#include "base/log.h"
#include "mpi/process/network_model.h"
#include "mpi/process/next.h"
#include "mpi/process/report_gather.h"

namespace nearcache::mpi {

Context context;

Context::Context() : option_errors(options.read_environment(environment_all())) {
  set_log_level(static_cast<int>(std::min<uint64_t>(options.verbose, 2)));
}

namespace {

// Which ranks of MPI_COMM_WORLD share this node; empty where there is no such communicator (sessions only).
std::vector<uint8_t> find_same_node(int ranks) {
  std::vector<uint8_t> same(static_cast<size_t>(ranks), 0);
  MPI_Comm node = MPI_COMM_NULL;
  if (next.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return {};
  MPI_Group here = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  next.Comm_group(node, &here);
  next.Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  next.Group_size(here, &size);
  std::vector<int> local(static_cast<size_t>(size)), global(static_cast<size_t>(size), MPI_UNDEFINED);
  for (int i = 0; i < size; ++i) local[static_cast<size_t>(i)] = i;
  next.Group_translate_ranks(here, size, local.data(), world, global.data());
  for (const int rank : global) {
    if (rank >= 0 && rank < ranks) same[static_cast<size_t>(rank)] = 1;
  }
  next.Group_free(&here);
  next.Group_free(&world);
  next.Comm_free(&node);
  return same;
}

// Ranks of this node: those that split_type found, at least as many as the launcher says, since a library told
// to avoid shared memory counts every rank as a node of its own.
uint64_t ranks_on_node() {
  return std::max(launched_on_node(), static_cast<uint64_t>(std::count(context.same_node.begin(), context.same_node.end(), 1)));
}

}  // namespace

void context_start(bool collective) {
  {
    const std::lock_guard lock(context.mutex);
    if (context.started) return;
    context.started = true;
  }
  context.started_ns = system_ns();
  context.host_defects = HostDefects(library_line());
  int provided = MPI_THREAD_SINGLE;
  int initialised = 0;
  next.Query_thread(&provided);
  context.threaded = provided == MPI_THREAD_MULTIPLE;
  next.Initialized(&initialised);
  if (initialised != 0) {
    next.Comm_rank(MPI_COMM_WORLD, &context.rank);
    next.Comm_size(MPI_COMM_WORLD, &context.ranks);
    if (collective) context.same_node = find_same_node(context.ranks);
    context.progress.start();
  }
  if (context.rank == 0) {
    for (const std::string& message : context.option_errors) log(LogLevel::warning, "%s", message.c_str());
  }
  const uint64_t limit = context.options.max_storage != 0 ? context.options.max_storage : node_memory_bytes() / 10 / ranks_on_node();
  context.budget.set_limit(limit);
  context.progress.configure(context.options.progress_calls, context.options.progress_time);
  const std::string wrong = network_model_install(context.options.model);
  if (!wrong.empty() && context.rank == 0) log(LogLevel::warning, "%s", wrong.c_str());
  context.observer.start();
}

}  // namespace nearcache::mpi
