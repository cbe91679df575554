// Collective calls that release, including those that make communicators.
#include "releases.h"

namespace releases {
namespace {

#define UNPACK(...) __VA_ARGS__
// A call with these arguments, its nonblocking form, and the form that makes a persistent request.
#define COLLECTIVE(name, small, arguments)                        \
  BOTH(MPI_##name, NOTHING, (UNPACK arguments), NOTHING)          \
  BOTH(MPI_I##small, NOTHING, (UNPACK arguments, &request), WAIT) \
  BOTH(MPI_##name##_init, NOTHING, (UNPACK arguments, MPI_INFO_NULL, &request), FREE_REQUEST)

void add_data(Rows& rows){
    ROW(MPI_Barrier, NOTHING, (self),
        NOTHING) ROW(MPI_Ibarrier, NOTHING, (self, &request),
                     WAIT) ROW(MPI_Barrier_init, NOTHING, (self, MPI_INFO_NULL, &request),
                               FREE_REQUEST) COLLECTIVE(Bcast, bcast,
                                                        (received, 1, MPI_INT, 0, self))
        COLLECTIVE(Gather, gather, (sent, 1, MPI_INT, received, 1, MPI_INT, 0, self)) COLLECTIVE(
            Gatherv, gatherv,
            (sent, 1, MPI_INT, received, ones, places, MPI_INT, 0,
             self)) COLLECTIVE(Scatter, scatter, (sent, 1, MPI_INT, received, 1, MPI_INT, 0, self))
            COLLECTIVE(Scatterv, scatterv,
                       (sent, ones, places, MPI_INT, received, 1, MPI_INT,
                        0, self)) COLLECTIVE(Allgather, allgather,
                                             (sent, 1, MPI_INT, received, 1, MPI_INT, self))
                COLLECTIVE(Allgatherv, allgatherv,
                           (sent, 1, MPI_INT, received, ones, places, MPI_INT, self))
                    COLLECTIVE(Alltoall, alltoall, (sent, 1, MPI_INT, received, 1, MPI_INT, self))
                        COLLECTIVE(Alltoallv, alltoallv,
                                   (sent, ones, places, MPI_INT, received, ones, places, MPI_INT,
                                    self))
                            COLLECTIVE(Alltoallw, alltoallw,
                                       (sent, ones, bytes, ints, received, ones, bytes, ints, self))
                                COLLECTIVE(Reduce, reduce,
                                           (sent, received, 1, MPI_INT, MPI_SUM, 0, self))
                                    COLLECTIVE(Allreduce, allreduce,
                                               (sent, received, 1, MPI_INT, MPI_SUM,
                                                self)) COLLECTIVE(Reduce_scatter, reduce_scatter,
                                                                  (sent, received, ones,
                                                                   MPI_INT, MPI_SUM, self))
                                        COLLECTIVE(Reduce_scatter_block, reduce_scatter_block,
                                                   (sent, received, 1, MPI_INT, MPI_SUM, self))
                                            COLLECTIVE(Scan, scan,
                                                       (sent, received, 1, MPI_INT, MPI_SUM,
                                                        self)) COLLECTIVE(Exscan, exscan,
                                                                          (sent, received, 1,
                                                                           MPI_INT, MPI_SUM, self))
                                                COLLECTIVE(Neighbor_allgather, neighbor_allgather,
                                                           (sent, 1, MPI_INT, received, 1, MPI_INT,
                                                            ring))
                                                    COLLECTIVE(Neighbor_allgatherv,
                                                               neighbor_allgatherv,
                                                               (sent, 1, MPI_INT, received, ones,
                                                                places, MPI_INT, ring))
                                                        COLLECTIVE(Neighbor_alltoall,
                                                                   neighbor_alltoall,
                                                                   (sent, 1, MPI_INT, received, 1,
                                                                    MPI_INT, ring))
                                                            COLLECTIVE(Neighbor_alltoallv,
                                                                       neighbor_alltoallv,
                                                                       (sent, ones, places, MPI_INT,
                                                                        received, ones, places,
                                                                        MPI_INT, ring))
                                                                COLLECTIVE(Neighbor_alltoallw,
                                                                           neighbor_alltoallw,
                                                                           (sent, ones, bytes, ints,
                                                                            received, ones, bytes,
                                                                            ints, ring))}

MPI_Group own_group() {
  MPI_Group group;
  HIDDEN(MPI_Comm_group)(self, &group);
  return group;
}

MPI_Info some_info() {
  static MPI_Info info = check::info("nearcache_test", "1");
  return info;
}

void free_two() {
  HIDDEN(MPI_Comm_free)(&made);
  HIDDEN(MPI_Comm_free)(&other);
}

void duplicate() { HIDDEN(MPI_Comm_dup)(self, &made); }

void connect(int leader, MPI_Comm* to) {
  HIDDEN(MPI_Intercomm_create)(self, 0, check::hidden_comm, leader, 5, to);
}

// Two ranks must make the call; what the reader does tells it nothing.
void add_between_groups(Rows& rows) {
  rows.push_back({"MPI_Intercomm_create", NOTHING,
                  [] { MPI_Intercomm_create(self, 0, check::hidden_comm, 0, 5, &made); }, FREE_COMM,
                  [] {
                    connect(1, &made);
                    HIDDEN(MPI_Comm_free)(&made);
                  }});
  rows.push_back({"MPI_Intercomm_merge", NOTHING,
                  [] {
                    connect(0, &other);
                    MPI_Intercomm_merge(other, 0, &made);
                  },
                  free_two,
                  [] {
                    connect(1, &other);
                    HIDDEN(MPI_Intercomm_merge)(other, 1, &made);
                    free_two();
                  }});
}

}  // namespace

void add_collectives(Rows& rows) {
  add_data(rows);
  static const int one = 1, none = 0, wraps = 1;
  ROW(MPI_Comm_dup, NOTHING, (self, &made), FREE_COMM)
  ROW(MPI_Comm_dup_with_info, NOTHING, (self, MPI_INFO_NULL, &made), FREE_COMM)
  ROW(MPI_Comm_create, NOTHING, (self, own_group(), &made), FREE_COMM)
  ROW(MPI_Comm_create_group, NOTHING, (self, own_group(), 0, &made), FREE_COMM)
  ROW(MPI_Comm_create_from_group, NOTHING,
      (own_group(), "releases", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made), FREE_COMM)
  ROW(MPI_Comm_split, NOTHING, (self, 0, 0, &made), FREE_COMM)
  ROW(MPI_Comm_split_type, NOTHING, (self, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made),
      FREE_COMM)
  ROW(MPI_Comm_free, duplicate, (&made), NOTHING)
  ROW(MPI_Comm_disconnect, duplicate, (&made), NOTHING)
  ROW(MPI_Comm_set_info, duplicate, (made, some_info()), FREE_COMM)
  ROW(MPI_Comm_idup, NOTHING, (self, &made, &request),
      FINISH(HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE); HIDDEN(MPI_Comm_free)(&made)))
  ROW(MPI_Comm_idup_with_info, NOTHING, (self, MPI_INFO_NULL, &made, &request),
      FINISH(HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE); HIDDEN(MPI_Comm_free)(&made)))
  ROW(MPI_Cart_create, NOTHING, (self, 1, &one, &wraps, 0, &made), FREE_COMM)
  ROW(MPI_Cart_sub, NOTHING, (ring, &one, &made), FREE_COMM)
  ROW(MPI_Graph_create, NOTHING, (self, 1, &one, &none, 0, &made), FREE_COMM)
  ROW(MPI_Dist_graph_create, NOTHING,
      (self, 0, sent, sent, sent, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), FREE_COMM)
  ROW(MPI_Dist_graph_create_adjacent, NOTHING,
      (self, 0, sent, MPI_UNWEIGHTED, 0, sent, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made), FREE_COMM)
  add_between_groups(rows);
}

}  // namespace releases
