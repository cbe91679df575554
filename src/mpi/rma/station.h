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

  // Collective over `comm`, whose ranks are these of the world, all of it, and have agreed on it;
  // by rank of `comm`, who is on another node. Afterwards it is not down. Any thread.
  void set_up(MPI_Comm comm, const std::vector<int>& members, const std::vector<uint8_t>& far);
  // The end of MPI is next. `has_windows`: some are left, which callbacks at that end may still use
  // and free: then all moves on while their ranks wait.
  void stop(bool has_windows);

  // Around the agreement on a new window (rma/engine.h): an opening has begun if the engine is up.
  // Any thread.
  State begin_opening();
  void end_opening();

  rma::Agent& agent() { return *agent_; }
  rma::Engine& engine() { return *engine_; }
  // With whom this rank shares memory; null: with nobody. Under the agent's lock.
  rma::Node* node() { return node_.get(); }

 private:
  // What all must know of a rank.
  struct Card {
    net::SocketAddress address{};
    net::OfiAddress ofi{};     // of no size: none
    net::Secret secret{};      // that of the first rank is the job's
    net::Arena::Name arena{};  // that this rank has made
    net::Bell::Name bell{};    // that rings this rank
    int32_t usable = 0;
    int64_t process = 0;
    uint64_t mark = 0, mark_at = 0;  // a number of its own, and where in its memory it is
  };
  const Card& own_card(const std::vector<int>& on_node);
  void listen();
  // Whether this rank shares memory with those of its node.
  bool map_arena(const Card& maker);
  bool open_bells(const std::vector<Card>& cards, const std::vector<int>& members,
                  const std::vector<int>& on_node);
  void give_back();  // the network, with its descriptors
  std::string connect(const std::vector<Card>& cards, const std::vector<int>& members);
  std::string begin(const std::vector<Card>& cards, const std::vector<int>& members);
  std::string share(const std::vector<Card>& cards, const std::vector<int>& members,
                    const std::vector<int>& on_node, const std::vector<int32_t>& mapped);
  void know_processes(const std::vector<Card>& sharing);
  std::string go_by_memory();
  void close_bells();

  std::mutex mutex_;  // covers what follows; engine and agent stay once they are there
  State state_ = State::down;
  bool was_set_up_ = false;  // by all ranks
  std::optional<Card> own_card_;
  std::shared_ptr<net::Arena> arena_;
  std::string no_arena_;  // why
  const uint64_t mark_ = net::random_word();
  std::unique_ptr<net::SocketFabric> sockets_;
  std::unique_ptr<net::OfiFabric> ofi_;
  std::unordered_map<int, net::Bell> bells_;  // by rank of the node
  std::string no_bells_;                      // why
  bool have_bells_ = false;                   // all who share memory, so that messages go there
  std::unique_ptr<net::NodeFabric> by_memory_;
  net::Fabric* fabric_ = nullptr;  // one of these
  std::unique_ptr<rma::Node> node_;
  std::unique_ptr<rma::Engine> engine_;
  std::unique_ptr<rma::Agent> agent_;
};

}  // namespace nearcache::mpi
