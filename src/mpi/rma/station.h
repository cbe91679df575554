// This process as a rank of the RMA engine: network, engine and agent, from the first window that the engine may take to MPI_Finalize.
//
// They are set up together by all ranks of the job, at the first window whose communicator has all of them: the host MPI carries addresses and the
// secret of the job. Windows that come before that are the host's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpi/mpi_api.h"
#include "net/socket_fabric.h"
#include "rma/agent.h"

namespace nearcache::mpi {

class Station {
 public:
  // Collective over `comm`, whose ranks are these of the world and have all been met. Empty if the engine is up, else why it is not.
  std::string set_up(MPI_Comm comm, const std::vector<int>& members);
  // The end of MPI is next.
  void stop();

  // Not up yet, and not found impossible.
  bool down() const { return state_ == State::down; }

  // Around the agreement on a new window (rma/engine.h).
  void begin_opening();
  void end_opening();

  rma::Agent& agent() { return *agent_; }
  rma::Engine& engine() { return *engine_; }

 private:
  enum class State { down, up, impossible };
  std::string begin(MPI_Comm comm, const std::vector<int>& members);

  State state_ = State::down;
  std::string why_;
  std::unique_ptr<net::SocketFabric> fabric_;
  std::unique_ptr<rma::Engine> engine_;
  std::unique_ptr<rma::Agent> agent_;
};

}  // namespace nearcache::mpi
