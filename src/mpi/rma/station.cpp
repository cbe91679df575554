#include "mpi/rma/station.h"

#include <atomic>

#include "mpi/process/context.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

// MPICH 5 calls this while it waits. Null: never again.
std::atomic<rma::Agent*> helped{nullptr};

#if defined(NEARCACHE_FAMILY_MPICH) && defined(MPIX_STREAM_NULL)
int help(void*) {
  constexpr int no_progress = 0, over = 1;  // MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE
  rma::Agent* const agent = helped.load(std::memory_order_acquire);
  if (agent == nullptr) return over;
  agent->help();
  return no_progress;
}

void be_helped(rma::Agent* agent) {
  using Start = int (*)(int (*)(void*), void*, MPIX_Stream);
  const auto start = reinterpret_cast<Start>(next_symbol("MPIX_Async_start"));
  if (start == nullptr) return;
  helped.store(agent, std::memory_order_release);
  if (start(help, nullptr, MPIX_STREAM_NULL) != MPI_SUCCESS) helped.store(nullptr);
}
#else
void be_helped(rma::Agent*) {}
#endif

}  // namespace

std::string Station::set_up(MPI_Comm comm, const std::vector<int>& members) {
  if (state_ == State::down && !context.world.is_everybody(comm)) return "the first window for the engine must be of all ranks";
  if (state_ == State::down) {
    why_ = begin(comm, members);
    state_ = why_.empty() ? State::up : State::impossible;
  }
  return why_;
}

std::string Station::begin(MPI_Comm comm, const std::vector<int>& members) {
  struct Card {
    net::SocketAddress address;
    int32_t usable;
  };
  net::Secret secret{net::random_word(), net::random_word()};
  if (next.Bcast(secret.data(), sizeof secret, MPI_BYTE, 0, comm) != MPI_SUCCESS) return "MPI_Bcast failed";
  std::string wrong;
  fabric_ = net::SocketFabric::open(context.rank, secret, context.options.rma_interface, &wrong);
  if (fabric_ != nullptr) {
    engine_ = std::make_unique<rma::Engine>(fabric_.get());
    agent_ = std::make_unique<rma::Agent>(engine_.get(), [] { context.progress.call(); });
  }
  const Card mine{fabric_ != nullptr ? fabric_->address() : net::SocketAddress{}, fabric_ != nullptr};
  std::vector<Card> cards(members.size());
  if (next.Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm) != MPI_SUCCESS) return "MPI_Allgather failed";
  std::vector<net::SocketAddress> addresses(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (cards[i].usable == 0 && wrong.empty()) wrong = "rank " + std::to_string(members[i]) + " has no network for it";
    addresses[static_cast<size_t>(members[i])] = cards[i].address;
  }
  if (!wrong.empty()) return wrong;
  fabric_->know(std::move(addresses));
  // Nobody sends before the first window has been agreed on, so an agent that did not start is known by then.
  wrong = agent_->start();
  if (wrong.empty()) be_helped(agent_.get());
  return wrong;
}

void Station::begin_opening() {
  if (agent_ == nullptr) return;
  const rma::Agent::Lock lock(agent_.get());
  engine_->begin_opening();
}

void Station::end_opening() {
  if (agent_ == nullptr) return;
  const rma::Agent::Lock lock(agent_.get());
  engine_->end_opening();
}

// Others may still wait for what this rank has sent last: nobody goes before all have come.
void Station::stop() {
  if (state_ == State::up) {
    if (const MPI_Comm everybody = context.world.everybody(); everybody != MPI_COMM_NULL) next.Barrier(everybody);
    helped.store(nullptr, std::memory_order_release);
    context.progress.call();
    agent_->stop();
  }
  agent_.reset();
  engine_.reset();
  fabric_.reset();
  state_ = State::impossible;
  why_ = "MPI has ended";
}

}  // namespace nearcache::mpi
