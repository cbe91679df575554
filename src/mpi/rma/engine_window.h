// A window whose one-sided communication the engine does: MPI's calls on it, with their epochs and
// errors.
//
// Its handle is a window of the host MPI on MPI_COMM_SELF, so that names, attributes, info, error
// handlers and the handle's forms in Fortran are the host's affair. What such a window would tell
// wrongly of itself is answered here.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/rma/elements_of.h"
#include "mpi/rma/station.h"

namespace nearcache::mpi {

struct OriginBuffer {
  const void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

struct Target {
  int rank;
  MPI_Aint displacement;
  MPI_Count count;
  MPI_Datatype type;
};

class EngineWindow {
 public:
  struct Shape {
    void* base;
    MPI_Aint size;
    int unit;
    int flavor;
  };

  // Takes the handle and the group.
  EngineWindow(Station* station, MPI_Win handle, MPI_Group group, rma::Window* window,
               const Shape& shape)
      : station_(station), handle_(handle), group_(group), window_(window), shape_(shape) {}

  // Calls the window's error handler if `rc` is an error. Not under the lock: the handler is the
  // program's, and may use the window.
  int report(int rc) const;

  // Each is the MPI call of that name: returns an error class for `report`.
  int put(const OriginBuffer& origin, const Target& target);
  int get(void* address, MPI_Count count, MPI_Datatype type, const Target& target);
  int accumulate(const OriginBuffer& origin, const Target& target, MPI_Op op);
  int get_accumulate(const OriginBuffer& origin, void* result, MPI_Count result_count,
                     MPI_Datatype result_type, const Target& target, MPI_Op op);
  int fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                   MPI_Aint displacement, MPI_Op op);
  int compare_and_swap(const void* origin, const void* compare, void* result, MPI_Datatype type,
                       int rank, MPI_Aint displacement);
  // The request of what the call before has issued, if that succeeded.
  int make_request(int rc, int rank, MPI_Request* request);

  int fence(int assert);
  int start(MPI_Group group, int assert);
  int complete();
  int post(MPI_Group group, int assert);
  int wait();
  int test(int* flag);
  int lock(int type, int rank, int assert);
  int unlock(int rank);
  int lock_all(int assert);
  int unlock_all();
  int flush(int rank);
  int flush_all();
  int flush_local(int rank);
  int flush_local_all();
  int sync();

  int attach(void* base, MPI_Aint size);
  int detach(const void* base);
  // False: the attribute is the host's.
  bool get_attr(int keyval, void* value, int* flag);
  int get_group(MPI_Group* group);
  // As MPI-4.1 has it of windows that are not shared: the own memory is in reach, that of others is
  // none.
  template <class Unit>
  int shared_query(int rank, MPI_Aint* size, Unit* unit, void* base) const {
    if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
    const bool own = rank == MPI_PROC_NULL || rank == window_->rank();
    *size = own ? shape_.size : 0;
    *unit = own ? shape_.unit : 0;
    *static_cast<void**>(base) = own ? shape_.base : nullptr;
    return MPI_SUCCESS;
  }
  // Collective; afterwards only the handle is left to free. Not MPI_SUCCESS: nothing has happened.
  int close();
  rma::Window* window() const { return window_; }
  // The error class of a status; says what was lost.
  int settled(rma::Status status) const;

 private:
  int flush_to(int rank, rma::Mark (rma::Window::*begin)(int));
  bool valid_rank(int rank) const { return rank >= 0 && rank < window_->members().size(); }
  bool may_access(int rank) const {
    return fenced_ || all_locked_ || locks_.contains(rank) ||
           std::ranges::find(started_, rank) != started_.end();
  }
  bool passive(int rank) const { return all_locked_ || locks_.contains(rank); }
  // MPI_SUCCESS, or what forbids an access.
  int check(const Target& target) const;
  void issue(const rma::Agent::Lock& lock, rma::Transfer transfer);
  bool ranks_of(MPI_Group group, std::vector<int>* ranks) const;
  template <class Done>
  void wait_until(const rma::Agent::Lock& lock, Done done) {
    station_->agent().wait(lock, [&] { return done() || window_->broken(); });
  }

  Station* station_;
  MPI_Win handle_;
  MPI_Group group_;
  rma::Window* window_;
  Shape shape_;
  // Epochs, under the agent's lock.
  bool fenced_ = false;
  bool all_locked_ = false;
  std::set<int> locks_;  // of these ranks
  bool starting_ = false, exposing_ = false;
  std::vector<int> started_;  // targets
  size_t exposed_ = 0;        // origins
  int model_ = MPI_WIN_UNIFIED;
};

}  // namespace nearcache::mpi
