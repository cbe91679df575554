// What this process knows of the ranks that were started with it, and how it learns it without ever waiting for one that does not answer.
//
// Nearcache's own collective calls need every rank of a communicator, but not every rank need be preloaded: of several programs in one job one
// may be static or setuid, and a communicator may reach into a job that runs without Nearcache. So
//   - nothing is asked in MPI_Init;
//   - communicators that reach outside of the own MPI_COMM_WORLD are left alone, which needs no question;
//   - ranks of the own world are met at the first window on their communicator, in a non-blocking call that is given up when somebody does not
//     come (patience.h). From then on nobody is asked any more, unless that call completes after all.
// A program that has sessions only has no MPI_COMM_WORLD; the process set mpi://WORLD stands for it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/process/patience.h"

namespace nearcache::mpi {

class World {
 public:
  // Learns rank and size; after MPI_Init or the first session.
  void start(int* rank, int* ranks);
  // Gives back what it holds of MPI: before the end of MPI.
  void stop();
  // There are ranks to speak of: MPI_COMM_WORLD, or mpi://WORLD.
  bool known() const { return group_known_; }
  // They are those of MPI_COMM_WORLD.
  bool has_model() const { return has_model_; }
  // MPI_Init was called, and MPI_Finalize not yet.
  static bool model_is_open();

  // The ranks of `comm` in the world; empty where one is outside of it.
  std::vector<int> members(MPI_Comm comm) const;

  // Meets these ranks: true if all run with Nearcache, and then `*far` says which are on other nodes. Collective over `comm` where it has not
  // been met before, with so much patience in nanoseconds. Any thread.
  bool meet(MPI_Comm comm, const std::vector<int>& members, std::vector<uint8_t>* far, uint64_t patience);

  // A collective call has not been answered: `exchange` is what is left of it.
  void give_up(Exchange exchange);
  // Somebody has not answered, and still does not.
  bool given_up();

  // A communicator of all ranks of the world, in whatever order.
  bool is_everybody(MPI_Comm comm);
  // One is about to end: its handle may be another's after.
  void forget_communicators();

  // Every rank of the world has been met.
  bool all_met() const { return all_met_; }
  // The most ranks of one communicator that were found on this node.
  uint64_t most_on_node() const { return most_on_node_; }

  // A communicator of all ranks, for the report; MPI_COMM_NULL if there is none. Collective for programs that have sessions only.
  MPI_Comm everybody();

 private:
  bool start_session();
  std::vector<uint8_t> far_of(const std::vector<int>& members);

  bool has_model_ = false;
  bool group_known_ = false;
  int rank_ = 0, ranks_ = 1;
  MPI_Group group_{};
  MPI_Comm everybody_{};       // of the session
  bool has_session_ = false;
#ifdef NEARCACHE_HAS_Session_init
  MPI_Session session_{};
#endif

  std::mutex mutex_;  // covers what follows
  std::vector<uint64_t> nodes_;                // by rank of the world: a hash of the host's name, 0 where not known
  std::vector<std::pair<MPI_Comm, bool>> everybodies_;  // communicators that were asked for, and the answer
  std::unordered_set<uint64_t> met_;           // hashes of groups that were met
  bool all_met_ = false;
  uint64_t most_on_node_ = 1;
  std::optional<Exchange> unanswered_;
};

}  // namespace nearcache::mpi
