#include "mpi/rma/station.h"

#include <atomic>

#include "base/log.h"
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

const Station::Card& Station::own_card() {
  const std::lock_guard lock(mutex_);
  if (own_card_) return *own_card_;
  std::string wrong;
  fabric_ = net::SocketFabric::open(context.rank, context.options.rma_interface, &wrong);
  if (fabric_ == nullptr)
    log(LogLevel::warning, "rank %d: no RMA engine: %s", context.rank, wrong.c_str());
  own_card_ = Card{fabric_ != nullptr ? fabric_->address() : net::SocketAddress{},
                   {net::random_word(), net::random_word()},
                   fabric_ != nullptr};
  return *own_card_;
}

void Station::set_up(MPI_Comm comm, const std::vector<int>& members) {
  const Card mine = own_card();
  std::vector<Card> cards(members.size());
  const int rc =
      next.Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, comm);
  const std::lock_guard lock(mutex_);
  if (state_ != State::down) return;
  const std::string wrong = rc == MPI_SUCCESS ? begin(cards, members) : "MPI_Allgather failed";
  state_ = wrong.empty() ? State::up : State::impossible;
  if (!wrong.empty()) log(LogLevel::info, "no window is done by the RMA engine: %s", wrong.c_str());
}

std::string Station::begin(const std::vector<Card>& cards, const std::vector<int>& members) {
  std::vector<net::SocketAddress> addresses(members.size());
  net::Secret secret{};
  for (size_t i = 0; i < members.size(); ++i) {
    if (cards[i].usable == 0)
      return "rank " + std::to_string(members[i]) + " has no network for it";
    addresses[static_cast<size_t>(members[i])] = cards[i].address;
    if (members[i] == 0) secret = cards[i].secret;
  }
  fabric_->know(secret, std::move(addresses));
  engine_ = std::make_unique<rma::Engine>(fabric_.get());
  agent_ = std::make_unique<rma::Agent>(engine_.get(), [] { context.progress.call(); });
  // Nobody sends before the first window has been agreed on, so an agent that did not start is
  // known by then.
  std::string wrong = agent_->start();
  if (wrong.empty()) be_helped(agent_.get());
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

// Others may still wait for what this rank has sent last: nobody goes before all have come.
void Station::stop() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::up) {
    if (const MPI_Comm everybody = context.world.everybody(); everybody != MPI_COMM_NULL)
      next.Barrier(everybody);
    helped.store(nullptr, std::memory_order_release);
    context.progress.call();
    agent_->stop();
  }
  agent_.reset();
  engine_.reset();
  fabric_.reset();
  state_ = State::impossible;
}

}  // namespace nearcache::mpi
