// This process as a rank of the RMA engine: network, engine and agent, from the first window that
// the engine may take to MPI_Finalize.
//
// They are set up together by all ranks of the job, at the first window whose communicator has all
// of them: the host MPI carries addresses and the secret of the job. Windows that come before that
// are the host's. Threads may make first windows at once, on communicators that ranks come to in
// different order: each such window carries a set-up of its own, all with the same cards, and the
// first that is over counts.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mpi/mpi_api.h"
#include "net/socket_fabric.h"
#include "rma/agent.h"

namespace nearcache::mpi {

class Station {
 public:
  enum class State { down, up, impossible };

  // Collective over `comm`, whose ranks are these of the world, all of it, and have agreed on it.
  // Afterwards it is not down. Any thread.
  void set_up(MPI_Comm comm, const std::vector<int>& members);
  // The end of MPI is next.
  void stop();

  // Around the agreement on a new window (rma/engine.h): an opening has begun if the engine is up.
  // Any thread.
  State begin_opening();
  void end_opening();

  rma::Agent& agent() { return *agent_; }
  rma::Engine& engine() { return *engine_; }

 private:
  // What all must know of a rank.
  struct Card {
    net::SocketAddress address{};
    net::Secret secret{};  // that of the first rank is the job's
    int32_t usable = 0;
  };
  const Card& own_card();
  std::string begin(const std::vector<Card>& cards, const std::vector<int>& members);

  std::mutex mutex_;  // covers what follows; engine and agent stay once they are there
  State state_ = State::down;
  std::optional<Card> own_card_;
  std::unique_ptr<net::SocketFabric> fabric_;
  std::unique_ptr<rma::Engine> engine_;
  std::unique_ptr<rma::Agent> agent_;
};

}  // namespace nearcache::mpi
