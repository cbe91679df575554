// SPDX-License-Identifier: BSD-3-Clause

// This process as a rank of the RMA engine: network, engine and agent, from the first window that
// the engine may take until MPI_Finalize.
//
// All ranks of the job set these up together, at the first window whose communicator contains all
// of them; the host MPI carries the addresses and the job's secret. Earlier windows are the host's.
// Threads may create first windows concurrently, on communicators that ranks enter in different
// orders: each such window performs its own set-up, all with the same cards, and the first to
// finish counts.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpi/mpi_api.h"
#include "net/arena.h"
#include "net/authentication.h"
#include "net/node_fabric.h"
#include "net/ofi_fabric.h"
#include "net/socket_fabric.h"
#include "rma/agent.h"
#include "rma/node.h"

namespace nearcache::mpi {

class Station {
 public:
  enum class State { down, up, impossible };

  // Collective over `comm`. Its ranks are `members` in the world, are all ranks of the world, and
  // have agreed to set up. `far`, by rank of `comm`: it is on another node. Afterwards the state is
  // not `down`. Thread-safe.
  void set_up(MPI_Comm comm, const std::vector<int>& members, const std::vector<uint8_t>& far);
  // Called before the end of MPI. `has_windows`: windows are left which callbacks at that point may
  // still use and free; without the agent, the engine then makes progress only while ranks wait in
  // its calls. `mpi_goes_on`: so may sessions, in which ranks also compute or wait in the host: the
  // agent then stays until the process ends.
  void stop(bool has_windows, bool mpi_goes_on);

  // Called before and after the agreement on a new window (rma/engine.h). If the engine is up, an
  // opening has begun. Thread-safe.
  State begin_opening();
  void end_opening();

  rma::Agent& agent() { return *agent_; }
  rma::Engine& engine() { return *engine_; }
  // The ranks that share memory with this one; null if there are none. Call under the agent's lock.
  rma::Node* node() { return node_.get(); }

 private:
  // What all ranks must know about a rank.
  struct Card {
    net::SocketAddress address{};
    net::OfiAddress ofi{};     // size 0: none
    net::Secret secret{};      // the first rank's is the job's
    net::Arena::Name arena{};  // an arena that this rank has created
    net::Bell::Name bell{};    // rings this rank
    int32_t usable = 0;
    int64_t process = 0;
    uint64_t mark = 0, mark_at = 0;  // a random number, and its address in this rank's memory
  };
  const Card& own_card(const std::vector<int>& on_node);
  void listen();
  // Returns whether this rank shares memory with the others of its node.
  bool map_arena(const Card& maker);
  bool open_bells(const std::vector<Card>& cards, const std::vector<int>& members,
                  const std::vector<int>& on_node);
  void give_back();  // releases the network, with its descriptors
  std::string connect(const std::vector<Card>& cards, const std::vector<int>& members);
  std::string begin(const std::vector<Card>& cards, const std::vector<int>& members);
  std::string share(const std::vector<Card>& cards, const std::vector<int>& members,
                    const std::vector<int>& on_node, const std::vector<int32_t>& mapped);
  void know_processes(const std::vector<Card>& sharing);
  std::string go_by_memory();
  void close_bells();

  std::mutex mutex_;  // guards the members below; engine and agent never change once created
  State state_ = State::down;
  bool was_set_up_ = false;  // by all ranks
  bool stays_ = false;       // the agent
  std::optional<Card> own_card_;
  std::shared_ptr<net::Arena> arena_;
  std::string no_arena_;  // why there is none
  const uint64_t mark_ = net::random_word();
  std::unique_ptr<net::SocketFabric> sockets_;
  std::unique_ptr<net::OfiFabric> ofi_;
  std::unordered_map<int, net::Bell> bells_;  // by rank, within the node
  std::string no_bells_;                      // why there are none
  bool have_bells_ = false;                   // all do that share memory: messages use it
  std::unique_ptr<net::NodeFabric> by_memory_;
  net::Fabric* fabric_ = nullptr;  // one of the above
  std::unique_ptr<rma::Node> node_;
  std::unique_ptr<rma::Engine> engine_;
  std::unique_ptr<rma::Agent> agent_;
};

}  // namespace nearcache::mpi
