// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/station.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "mpi/process/context.h"
#include "mpi/process/next.h"
#include "mpi/rma/layer.h"
#include "mpi/rma/recent_operations.h"
#include "net/process_memory.h"

namespace nearcache::mpi {

std::atomic<rma::Agent*> helped_agent{nullptr};
std::atomic<rma::Agent*> own_agent{nullptr};

namespace {

// MPICH 5 calls this while it waits. Without an agent, it asks not to be called again.
#if defined(NEARCACHE_FAMILY_MPICH) && defined(MPIX_STREAM_NULL)
int help(void*) {
  constexpr int no_progress = 0, over = 1;  // MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE
  rma::Agent* const agent = helped_agent.load(std::memory_order_acquire);
  if (agent == nullptr) return over;
  agent->help();
  return no_progress;
}

void be_helped(rma::Agent* agent) {
  using Start = int (*)(int (*)(void*), void*, MPIX_Stream);
  const auto start = reinterpret_cast<Start>(next_symbol("MPIX_Async_start"));
  if (start == nullptr) return;
  helped_agent.store(agent, std::memory_order_release);
  if (start(help, nullptr, MPIX_STREAM_NULL) != MPI_SUCCESS) helped_agent.store(nullptr);
}

// Makes MPICH call help() once more, which then finds no agent.
void be_left() { context.progress.call(); }
#elif defined(NEARCACHE_FAMILY_OPENMPI)
// Open MPI also polls while it waits, through a function of its own that no header declares; it
// exists in 4.1 and 5.0.
using ProgressList = int (*)(int (*)());

ProgressList progress_list(const char* name) {
  return reinterpret_cast<ProgressList>(next_symbol(name));
}

int help() {
  rma::Agent* const agent = helped_agent.load(std::memory_order_acquire);
  return agent != nullptr && agent->help() ? 1 : 0;
}

void be_helped(rma::Agent* agent) {
  const ProgressList enter = progress_list("opal_progress_register");
  if (enter == nullptr || progress_list("opal_progress_unregister") == nullptr) return;
  helped_agent.store(agent, std::memory_order_release);
  if (enter(help) != 0) helped_agent.store(nullptr);
}

void be_left() {
  if (const ProgressList leave = progress_list("opal_progress_unregister"); leave != nullptr)
    leave(help);
}
#else
void be_helped(rma::Agent*) {}
void be_left() {}
#endif

bool wants_shared_memory() {
  const RmaFabric wanted = context.options.rma_fabric;
  return wanted == RmaFabric::automatic || wanted == RmaFabric::node;
}

// Whether to access, through the kernel, the memory of ranks on the same node that is not in the
// arena.
bool reaches_processes() { return wants_shared_memory() && context.options.rma_process_memory; }

// Libfabric is loaded only if it may offer something better than TCP, or is asked for.
bool wants_libfabric() {
  const Options& options = context.options;
  return options.rma_fabric == RmaFabric::ofi ||
         (options.rma_fabric == RmaFabric::automatic &&
          (!options.rma_provider.empty() || net::OfiFabric::may_have_hardware()));
}

}  // namespace

void end_help() noexcept {
  if (rma::Agent* const agent = helped_agent.load(std::memory_order_acquire); agent != nullptr)
    agent->helped();
}

void let_go() noexcept {
  if (rma::Agent* const agent = own_agent.load(std::memory_order_acquire); agent != nullptr)
    agent->let_go();
}

// Listens on every network that the job may agree on.
void Station::listen() {
  const Options& options = context.options;
  std::string wrong;
  if (wants_libfabric()) {
    using Direct = net::OfiFabric::Direct;
    const Direct direct = options.rma_rdma == RmaUse::off  ? Direct::none
                          : options.rma_rdma == RmaUse::on ? Direct::any
                                                           : Direct::hardware;
    ofi_ = net::OfiFabric::open(context.rank, context.ranks, options.rma_provider,
                                options.rma_interface, &wrong, direct);
    if (ofi_ == nullptr) {
      log(options.rma_fabric == RmaFabric::ofi ? LogLevel::warning : LogLevel::info,
          "rank %d: the RMA engine does not use libfabric: %s", context.rank, wrong.c_str());
    }
  }
  if (options.rma_fabric == RmaFabric::ofi) return;
  sockets_ = net::SocketFabric::open(context.rank, options.rma_interface, &wrong);
  if (sockets_ == nullptr)
    log(LogLevel::warning, "rank %d: no RMA engine: %s", context.rank, wrong.c_str());
}

const Station::Card& Station::own_card(const std::vector<int>& on_node) {
  const std::lock_guard lock(mutex_);
  if (own_card_) return *own_card_;
  listen();
  own_card_ = Card{sockets_ != nullptr ? sockets_->address() : net::SocketAddress{},
                   ofi_ != nullptr ? ofi_->address() : net::OfiAddress{},
                   {net::random_word(), net::random_word()},
                   {},
                   {},
                   sockets_ != nullptr,
                   getpid(),
                   mark_,
                   reinterpret_cast<uint64_t>(&mark_)};
  if (wants_shared_memory() && on_node.size() > 1 && on_node.front() == context.rank) {
    arena_ = net::Arena::make(net::arena_size(static_cast<int>(on_node.size())), &no_arena_);
    if (arena_ != nullptr) own_card_->arena = arena_->name();
  }
  if (wants_shared_memory() && on_node.size() > 1) {
    net::Bell own = net::Bell::make(&no_bells_);
    own_card_->bell = own.name();
    bells_.emplace(context.rank, std::move(own));
  }
  if (reaches_processes() && on_node.size() > 1) net::allow_process_memory();
  return *own_card_;
}

bool Station::map_arena(const Card& maker) {
  const std::lock_guard lock(mutex_);
  if (arena_ == nullptr && no_arena_.empty()) arena_ = net::Arena::open(maker.arena, &no_arena_);
  return arena_ != nullptr;
}

// Fails where the system cannot report the end of processes, or there are too few descriptors for
// that, since a rank's death would go unnoticed. Messages then use sockets.
bool Station::open_bells(const std::vector<Card>& cards, const std::vector<int>& members,
                         const std::vector<int>& on_node) {
  const std::lock_guard lock(mutex_);
  std::vector<int> ends;  // all opened at once, as the agent will
  for (size_t i = 0; i < members.size() && no_bells_.empty(); ++i) {
    if (!std::ranges::binary_search(on_node, members[i]) || bells_.contains(members[i])) continue;
    bells_.emplace(members[i], net::Bell::open(cards[i].bell, &no_bells_));
    const auto process = static_cast<pid_t>(cards[i].process);
    if (ends.emplace_back(net::process_descriptor(process)) < 0 && no_bells_.empty())
      no_bells_ = std::string("the end of a process cannot be watched: ") + std::strerror(errno);
  }
  for (const int end : ends) {
    if (end >= 0) close(end);
  }
  return no_bells_.empty();
}

void Station::set_up(MPI_Comm comm, const std::vector<int>& members,
                     const std::vector<uint8_t>& far) {
  std::vector<int> on_node;
  for (size_t i = 0; i < members.size(); ++i) {
    if (far[i] == 0) on_node.push_back(members[i]);
  }
  std::ranges::sort(on_node);
  const Card mine = own_card(on_node);
  std::vector<Card> cards(members.size());
  int rc = next.Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm);
  const auto maker = std::ranges::find(members, on_node.front());
  constexpr int32_t maps_only = 1, has_bells = 2;
  int32_t maps = rc == MPI_SUCCESS && wants_shared_memory() &&
                         map_arena(cards[static_cast<size_t>(maker - members.begin())])
                     ? maps_only
                     : 0;
  if (maps == maps_only && on_node.size() > 1 && open_bells(cards, members, on_node))
    maps = has_bells;
  std::vector<int32_t> mapped(members.size());
  if (rc == MPI_SUCCESS)
    rc = next.Allgather(&maps, 1, MPI_INT32_T, mapped.data(), 1, MPI_INT32_T, comm);
  const std::lock_guard lock(mutex_);
  if (state_ != State::down) return;
  was_set_up_ = true;
  std::string wrong =
      rc == MPI_SUCCESS ? share(cards, members, on_node, mapped) : "MPI_Allgather failed";
  if (wrong.empty()) wrong = begin(cards, members);
  state_ = wrong.empty() ? State::up : State::impossible;
  if (wrong.empty()) return;
  log(LogLevel::info, "no window uses the RMA engine: %s", wrong.c_str());
  give_back();  // the host creates the window next and may need the descriptors
}

// Ranks of the node that have mapped its arena use it; the others use the network.
std::string Station::share(const std::vector<Card>& cards, const std::vector<int>& members,
                           const std::vector<int>& on_node, const std::vector<int32_t>& mapped) {
  std::vector<int> sharing;
  std::vector<Card> theirs;
  bool all_have_bells = true;
  for (const int rank : on_node) {
    const auto at = static_cast<size_t>(std::ranges::find(members, rank) - members.begin());
    if (mapped[at] == 0) continue;
    sharing.push_back(rank);
    theirs.push_back(cards[at]);
    all_have_bells = all_have_bells && mapped[at] > 1;
  }
  if (arena_ != nullptr) arena_->close_door();
  const bool alone = arena_ == nullptr || sharing.size() < 2;
  if (!alone) {
    node_ = std::make_unique<rma::Node>(arena_, sharing, context.rank);
    node_->close_off();
    know_processes(theirs);
    have_bells_ = all_have_bells;
    if (!no_bells_.empty())
      log(LogLevel::info, "rank %d: messages within its node use sockets: %s", context.rank,
          no_bells_.c_str());
  }
  if (alone && !no_arena_.empty() && on_node.size() > 1) {
    log(LogLevel::info, "rank %d shares no memory with others of its node: %s", context.rank,
        no_arena_.c_str());
  }
  const bool all = !alone && sharing.size() == members.size();
  return all || members.size() == 1 || context.options.rma_fabric != RmaFabric::node
             ? ""
             : "option rma_fabric=node: not all ranks share memory";
}

// A rank that maps the arena has found its creator by process number, so process numbers mean the
// same to all of them.
void Station::know_processes(const std::vector<Card>& sharing) {
  std::vector<rma::Node::Process> processes;
  size_t reached = 0;
  for (const Card& card : sharing) {
    uint64_t mark = 0;
    iovec there{reinterpret_cast<void*>(card.mark_at), sizeof mark};
    const auto number = static_cast<pid_t>(card.process);
    const bool reachable = reaches_processes() &&
                           net::read_process(number, reinterpret_cast<std::byte*>(&mark),
                                             {&there, 1}) == net::Reached::all &&
                           mark == card.mark;
    processes.push_back({number, reachable});
    reached += reachable;
  }
  node_->know(std::move(processes));
  if (reaches_processes() && reached < sharing.size()) {
    log(LogLevel::info,
        "rank %d may not read the memory of all processes of its node: windows that "
        "others have created are reached by messages",
        context.rank);
  }
}

// Uses libfabric if all ranks have the same provider, else TCP.
std::string Station::connect(const std::vector<Card>& cards, const std::vector<int>& members) {
  std::vector<net::SocketAddress> addresses(members.size());
  std::vector<net::OfiAddress> ofi(members.size());
  net::Secret secret{};
  bool by_ofi = true;
  std::string without;
  for (size_t i = 0; i < members.size(); ++i) {
    const auto rank = static_cast<size_t>(members[i]);
    addresses[rank] = cards[i].address;
    ofi[rank] = cards[i].ofi;
    by_ofi = by_ofi && cards[i].ofi.size != 0 &&
             std::strcmp(cards[i].ofi.provider, cards[0].ofi.provider) == 0;
    if (cards[i].usable == 0 && without.empty()) without = std::to_string(members[i]);
    if (members[i] == 0) secret = cards[i].secret;
  }
  if (by_ofi) {
    log(LogLevel::info, "the RMA engine uses libfabric's provider %s%s", ofi[0].provider,
        ofi_->direct_memory() != nullptr ? ", which reads and writes memory" : "");
    ofi_->know(secret, std::move(ofi));
    fabric_ = ofi_.get();
    sockets_.reset();
    return {};
  }
  ofi_.reset();
  if (context.options.rma_fabric == RmaFabric::ofi)
    return "option rma_fabric=ofi: not all ranks have a provider of libfabric, and the same";
  if (!without.empty()) return "rank " + without + " has no network for it";
  sockets_->know(secret, std::move(addresses));
  fabric_ = sockets_.get();
  return {};
}

// Uses shared memory for messages within the node.
std::string Station::go_by_memory() {
  if (!have_bells_) return close_bells(), "";
  std::vector<net::NodeFabric::Place> places;
  for (size_t place = 0; place < node_->size(); ++place) {
    const int rank = node_->rank_at(place);
    places.push_back({rank, node_->inbox(place), std::move(bells_[rank])});
  }
  const bool all = static_cast<int>(node_->size()) == context.ranks;
  std::string wrong;
  by_memory_ = net::NodeFabric::make(std::move(places), node_->own_place(), context.ranks,
                                     all ? nullptr : fabric_, &wrong);
  if (by_memory_ == nullptr) return wrong;
  fabric_ = by_memory_.get();
  if (!all) return {};
  sockets_.reset();
  ofi_.reset();
  return {};
}

std::string Station::begin(const std::vector<Card>& cards, const std::vector<int>& members) {
  if (std::string wrong = connect(cards, members); !wrong.empty()) return wrong;
  if (std::string wrong = go_by_memory(); !wrong.empty()) return wrong;
  engine_ = std::make_unique<rma::Engine>(fabric_);
  engine_->outbox().set_mark(&recent_operations.unsettled);
  agent_ = std::make_unique<rma::Agent>(engine_.get(), [] { context.progress.call(); });
  for (size_t place = 0; node_ != nullptr && place < node_->size(); ++place) {
    if (place != node_->own_place())
      agent_->watch(node_->rank_at(place), node_->process(place).number);
  }
  // Nobody sends before the first window has been agreed on, and by then it is known if an agent
  // did not start.
  std::string wrong = agent_->start();
  if (wrong.empty()) be_helped(agent_.get());
  const bool helped = helped_agent.load(std::memory_order_relaxed) != nullptr;
  if (helped) agent_->expect_help();
  if (wrong.empty()) own_agent.store(agent_.get(), std::memory_order_release);
  if (helped)
    log(LogLevel::info, "rank %d: while it waits in MPI it polls in place of the RMA agent",
        context.rank);
  return wrong;
}

Station::State Station::begin_opening() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::up) {
    const rma::Agent::Lock agent(agent_.get());
    engine_->begin_opening();
  }
  return state_;
}

void Station::end_opening() {
  const rma::Agent::Lock lock(agent_.get());
  engine_->end_opening();
}

// Other ranks may still be waiting for what this rank sent last, so nobody leaves before all have
// arrived. Ranks do this wherever the engine was set up, even if it is not up at each of them.
void Station::stop(bool has_windows, bool mpi_goes_on) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(was_set_up_, false)) {
    if (const MPI_Comm everybody = context.world.everybody(); everybody != MPI_COMM_NULL)
      next.Barrier(everybody);
  }
  if (state_ == State::up) {
    stays_ = has_windows && mpi_goes_on;
    helped_agent.store(nullptr, std::memory_order_release);
    if (!stays_) own_agent.store(nullptr, std::memory_order_release);
    be_left();
    if (!stays_) agent_->stop();
    if (const auto [reads, writes] = engine_->transfers(); reads + writes > 0) {
      log(LogLevel::info,
          "rank %d: the network has read memory of others %llu times and written %llu times",
          context.rank, static_cast<unsigned long long>(reads),
          static_cast<unsigned long long>(writes));
    }
  }
  state_ = State::impossible;
  if (!has_windows && !stays_) give_back();
}

// Their entries stay, so that a thread that sets up concurrently does not open bells of its own.
void Station::close_bells() {
  for (auto& [rank, bell] : bells_) bell = {};
}

void Station::give_back() {
  agent_.reset();
  engine_.reset();
  node_.reset();
  fabric_ = nullptr;
  by_memory_.reset();
  close_bells();
  ofi_.reset();
  sockets_.reset();
}

}  // namespace nearcache::mpi
