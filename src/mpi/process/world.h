// SPDX-License-Identifier: BSD-3-Clause

// What this process knows about the ranks that were started with it. It finds out without ever
// waiting for a rank that does not answer.
//
// Nearcache's own collective calls need every rank of a communicator, but not every rank has to be
// preloaded: in a job of several programs one may be static or setuid, and a communicator may reach
// into a job that runs without Nearcache. So
//   - nothing is asked in MPI_Init;
//   - windows on communicators that reach beyond this process's MPI_COMM_WORLD are left alone,
//     which requires no communication;
//   - ranks of MPI_COMM_WORLD meet at the first window on their communicator, in a non-blocking
//     call that is abandoned if some rank does not answer in time (patience.h). From then on we
//     do not wait for any rank, unless that call completes after all.
// That call is made once on each communicator, and by every rank alike: whether a rank already
// knows from other calls who runs with Nearcache would depend on timing and threads. A program that
// only has sessions has no MPI_COMM_WORLD; the process set mpi://WORLD takes its place.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/process/patience.h"

namespace nearcache::mpi {

class World {
 public:
  // Finds out rank and size. Called after MPI_Init or when the first session begins.
  void start(int* rank, int* ranks);
  // Releases all MPI objects. Called before the end of MPI.
  void stop();
  // MPI ends: a session that begins later may get the same handle for another keyval.
  void forget_keyval();
  // Whether the world's ranks are known: those of MPI_COMM_WORLD or mpi://WORLD.
  bool known() const { return group_known_; }
  // Whether they are those of MPI_COMM_WORLD.
  bool has_model() const { return has_model_; }
  // Whether MPI_Init was called, and MPI_Finalize was not.
  static bool model_is_open();

  // The ranks of `comm` in the world; empty if one of them is outside of it.
  std::vector<int> members(MPI_Comm comm) const;

  // What is known about a communicator's ranks once they have met.
  struct Met {
    std::vector<uint8_t> far;      // by rank: it is on another node
    bool all_have_engine = false;  // all ranks have the RMA engine
    int other_engine = -1;         // a rank that has another one than the first rank; -1: none
    // they have agreed not to use it, because one of them came late (`do_without_engine`)
    bool without_engine = false;
    bool left_alone = false;  // a rank came late: no windows on it (`leave_alone`)
  };
  // Meets these ranks; returns true if all of them run with Nearcache. The first call is collective
  // over `comm`. Waits for up to `patience` nanoseconds, or not at all once some rank has failed to
  // answer. Thread-safe.
  bool meet(MPI_Comm comm, const std::vector<int>& members, Met* met, uint64_t patience);
  // Declares that this process has the RMA engine. `kind` says all that must be the same at ranks
  // whose engines are to work together. Call before any meeting.
  void offer_engine(std::string_view kind);
  // Says whether this rank has option `report`. Call before any meeting.
  void offer_report(bool wanted) { wants_report_ = wanted; }
  // The lowest rank met that has it; INT_MAX if none has.
  int first_to_report() const { return first_to_report_; }
  // Records that the engine takes no windows on `comm`. Called by all of its ranks alike, including
  // those that came too late for the others.
  void do_without_engine(MPI_Comm comm);
  // Records, in the same way, that windows on it are left alone. We make no calls on it from then
  // on.
  void leave_alone(MPI_Comm comm);

  // Keeps what is left of a collective call that was not answered.
  void give_up(Exchange exchange);
  // Keeps a call that this rank does not wait for, though others may, until it completes.
  void leave(Exchange exchange);
  // Returns whether some call was not answered, and still is not.
  bool given_up();

  // Returns whether `comm` contains all ranks of the world, in any order.
  bool is_everybody(MPI_Comm comm);
  // A communicator is about to be freed, or has been: its handle may be reused.
  void forget_communicators();

  // Whether every rank of the world has been met.
  bool all_met() const { return all_met_; }
  // The largest number of ranks of one communicator found on this node.
  uint64_t most_on_node() const { return most_on_node_; }

  // A communicator of all ranks, for the report; MPI_COMM_NULL if there is none. Collective in
  // programs that only have sessions.
  MPI_Comm everybody();

 private:
  struct Meeting {
    explicit Meeting(const std::vector<int>& ranks) : members(ranks), exchange(1, ranks.size()) {}
    std::vector<int> members;
    Exchange exchange;
    bool late = false, over = false;  // guarded by the mutex, as is the exchange once it is late
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
  uint64_t engine_ = 0;  // the kind of RMA engine, in engine_bits; 0: none
  bool wants_report_ = false;
#ifdef NEARCACHE_HAS_Session_init
  MPI_Session session_{};
  MPI_Comm everybody_{};  // of our session
  bool has_session_ = false;
#endif

  std::mutex mutex_;  // guards the members below
  // by rank in the world: a hash of the host's name, 0 if not known
  std::vector<uint64_t> nodes_;
  // the answers of is_everybody() for communicators of as many ranks as the world has
  std::vector<std::pair<MPI_Comm, bool>> everybodies_;
  int meeting_keyval_ = MPI_KEYVAL_INVALID;  // attribute of communicators: their meeting
  bool all_met_ = false;
  int first_to_report_ = INT_MAX;
  uint64_t most_on_node_ = 1;
  std::vector<std::shared_ptr<Meeting>> late_;
  std::vector<Exchange> unanswered_, left_;
};

}  // namespace nearcache::mpi
