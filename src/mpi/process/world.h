// What this process knows about the ranks that were started with it, and how it finds out without
// ever waiting for one that does not answer.
//
// Nearcache's own collective calls need every rank of a communicator, but not every rank need be
// preloaded: of several programs in one job one may be static or setuid, and a communicator may
// reach into a job that runs without Nearcache. So
//   - nothing is asked in MPI_Init;
//   - communicators that reach outside of the own MPI_COMM_WORLD are left alone, which needs no
//     question;
//   - ranks of the own world are met at the first window on their communicator, in a non-blocking
//     call that is given up when somebody does not come (patience.h). From then on nobody is waited
//     for any more, unless that call completes after all.
// That call is made once on each communicator, by every rank alike: whether one has learned by
// other calls who runs with Nearcache depends on time and threads. A program that has sessions only
// has no MPI_COMM_WORLD; the process set mpi://WORLD stands for it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
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

  // The ranks of a communicator, once they have been met.
  struct Met {
    std::vector<uint8_t> far;      // by rank: on another node
    bool all_have_engine = false;  // the RMA engine
    // they have done without it since one of them came late (`do_without_engine`)
    bool without_engine = false;
    bool left_alone = false;  // their windows are, as one of them came late (`leave_alone`)
  };
  // Meets these ranks: true if all run with Nearcache. Collective over `comm` at the first time,
  // with so much patience in nanoseconds, and with none once somebody has not answered. Any thread.
  bool meet(MPI_Comm comm, const std::vector<int>& members, Met* met, uint64_t patience);
  // This process has the RMA engine. Before anybody is met.
  void offer_engine() { has_engine_ = true; }
  // All ranks of `comm`, or those of them that come too late for the others, learn alike that the
  // engine has no windows on it.
  void do_without_engine(MPI_Comm comm);
  // They learn alike that windows on it are left alone. Nothing is called on it from then on.
  void leave_alone(MPI_Comm comm);

  // A collective call has not been answered: `exchange` is what is left of it.
  void give_up(Exchange exchange);
  // A call that this rank does not wait for, and others may: its request is looked after.
  void leave(Exchange exchange);
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

  // A communicator of all ranks, for the report; MPI_COMM_NULL if there is none. Collective for
  // programs that have sessions only.
  MPI_Comm everybody();

 private:
  struct Meeting {
    explicit Meeting(const std::vector<int>& ranks) : members(ranks), exchange(1, ranks.size()) {}
    std::vector<int> members;
    Exchange exchange;
    bool late = false, over = false;  // under the mutex, as is the exchange once it is late
    bool without_engine = false, left_alone = false;
  };

  bool start_session();
  std::shared_ptr<Meeting> meeting_on(MPI_Comm comm);
  std::shared_ptr<Meeting> begin_meeting(MPI_Comm comm, const std::vector<int>& members);
  int meeting_keyval();
  bool have_come(const std::shared_ptr<Meeting>& meeting, uint64_t patience);
  void learn(Meeting* meeting);
  void say_unanswered();
  std::vector<uint8_t> far_of(const std::vector<int>& members);

  bool has_model_ = false;
  bool group_known_ = false;
  int rank_ = 0, ranks_ = 1;
  MPI_Group group_{};
  bool has_engine_ = false;
#ifdef NEARCACHE_HAS_Session_init
  MPI_Session session_{};
  MPI_Comm everybody_{};  // of the session
  bool has_session_ = false;
#endif

  std::mutex mutex_;  // covers what follows
  // by rank of the world: a hash of the host's name, 0 where not known
  std::vector<uint64_t> nodes_;
  // communicators that were asked for, and the answer
  std::vector<std::pair<MPI_Comm, bool>> everybodies_;
  int meeting_keyval_ = MPI_KEYVAL_INVALID;  // attribute of communicators: their meeting
  bool all_met_ = false;
  uint64_t most_on_node_ = 1;
  std::vector<std::shared_ptr<Meeting>> late_;
  std::vector<Exchange> unanswered_, left_;
};

}  // namespace nearcache::mpi
