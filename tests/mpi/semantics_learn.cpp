// Rows whose call tells rank 0 that rank 1 has changed its memory, while a get of the old contents
// is in flight: get; CALL; get; flush. The second get is issued after the change is known, so it
// must see the change: serving it from the first one would be stale. In mode `always` the same call
// must not affect the cached data.
#include "semantics.h"

#include <cstdio>

namespace semantics {
namespace {

struct Place {
  Window& window;
  MPI_Win other;  // a second window of the same ranks, with lock_all held on it
  int64_t* other_memory;
  MPI_Comm ring;  // with a topology, for neighbourhood collectives
};

struct Row {
  std::string name;
  std::function<void(Place&)> call;  // called by origin and target
};

#define W pair()

int send_values[8], receive_values[8];
const int ones[2] = {1, 1}, displacements[2] = {0, 1};
const MPI_Aint byte_displacements[2] = {0, 4};
const int int_displacements[2] = {0, 4};
const MPI_Datatype ints[2] = {MPI_INT, MPI_INT};

int peer() { return 1 - check::rank; }

// Rank 1 sends; rank 0 learns of the change by `receive`.
Row message(const std::string& name, std::function<void(Place&)> receive) {
  return {name, [receive](Place& place) {
            if (origin()) {
              receive(place);
            } else {
              MPI_Send(send_values, 1, MPI_INT, 0, 1, W);
            }
          }};
}

// Like message(), received by MPI_Irecv and `wait`.
Row request(const std::string& name, std::function<void(MPI_Request*)> wait) {
  return message(name, [wait](Place&) {
    MPI_Request request;
    MPI_Irecv(receive_values, 1, MPI_INT, 1, 1, W, &request);
    wait(&request);
  });
}

// A blocking collective.
Row collective(const std::string& name, std::function<void(Place&)> call) { return {name, call}; }

// A nonblocking collective and MPI_Wait.
Row nonblocking(const std::string& name, std::function<void(MPI_Request*)> start) {
  return {name, [start](Place&) {
            MPI_Request request;
            start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
          }};
}

void receive() { MPI_Recv(receive_values, 1, MPI_INT, 1, 1, W, MPI_STATUS_IGNORE); }

void probe_until(const std::function<void(int*)>& probe) {
  for (int found = 0; !found;) {
    probe(&found);
  }
}

void add_messages(std::vector<Row>& rows) {
  rows.push_back(message("recv", [](Place&) { receive(); }));
  rows.push_back({"sendrecv", [](Place&) {
                    MPI_Sendrecv(send_values, 1, MPI_INT, peer(), 2, receive_values, 1, MPI_INT,
                                 peer(), 2, W, MPI_STATUS_IGNORE);
                  }});
  rows.push_back({"sendrecv_replace", [](Place&) {
                    MPI_Sendrecv_replace(send_values, 1, MPI_INT, peer(), 2, peer(), 2, W,
                                         MPI_STATUS_IGNORE);
                  }});
  // A synchronous send returns when its receive has started, so it also tells what the receiver did
  // before.
  rows.push_back({"ssend", [](Place&) {
                    origin() ? MPI_Ssend(send_values, 1, MPI_INT, 1, 3, W)
                             : MPI_Recv(receive_values, 1, MPI_INT, 0, 3, W, MPI_STATUS_IGNORE);
                  }});
  rows.push_back({"issend_wait", [](Place&) {
                    MPI_Request request;
                    origin() ? MPI_Issend(send_values, 1, MPI_INT, 1, 3, W, &request)
                             : MPI_Irecv(receive_values, 1, MPI_INT, 0, 3, W, &request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                  }});
  rows.push_back(message("mprobe_mrecv", [](Place&) {
    MPI_Message found;
    MPI_Mprobe(1, 1, W, &found, MPI_STATUS_IGNORE);
    MPI_Mrecv(receive_values, 1, MPI_INT, &found, MPI_STATUS_IGNORE);
  }));
  rows.push_back(message("improbe_imrecv_wait", [](Place&) {
    MPI_Message found;
    probe_until([&](int* done) { MPI_Improbe(1, 1, W, done, &found, MPI_STATUS_IGNORE); });
    MPI_Request request;
    MPI_Imrecv(receive_values, 1, MPI_INT, &found, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  rows.push_back(message("persistent_start_wait", [](Place&) {
    MPI_Request request;
    MPI_Recv_init(receive_values, 1, MPI_INT, 1, 1, W, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }));
  // Blocking probes only: the message is received after the second get (see after_row).
  rows.push_back(message("probe", [](Place&) { MPI_Probe(1, 1, W, MPI_STATUS_IGNORE); }));
  rows.push_back(message("iprobe", [](Place&) {
    probe_until([](int* done) { MPI_Iprobe(1, 1, W, done, MPI_STATUS_IGNORE); });
  }));
}

void add_requests(std::vector<Row>& rows) {
  rows.push_back(request("irecv_wait", [](MPI_Request* r) { MPI_Wait(r, MPI_STATUS_IGNORE); }));
  rows.push_back(
      request("irecv_waitall", [](MPI_Request* r) { MPI_Waitall(1, r, MPI_STATUSES_IGNORE); }));
  rows.push_back(request("irecv_waitany", [](MPI_Request* r) {
    int index;
    MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE);
  }));
  rows.push_back(request("irecv_waitsome", [](MPI_Request* r) {
    int count, index;
    MPI_Waitsome(1, r, &count, &index, MPI_STATUSES_IGNORE);
  }));
  rows.push_back(request("irecv_test", [](MPI_Request* r) {
    probe_until([&](int* done) { MPI_Test(r, done, MPI_STATUS_IGNORE); });
  }));
  rows.push_back(request("irecv_testall", [](MPI_Request* r) {
    probe_until([&](int* done) { MPI_Testall(1, r, done, MPI_STATUSES_IGNORE); });
  }));
  rows.push_back(request("irecv_testany", [](MPI_Request* r) {
    int index;
    probe_until([&](int* done) { MPI_Testany(1, r, &index, done, MPI_STATUS_IGNORE); });
  }));
  rows.push_back(request("irecv_testsome", [](MPI_Request* r) {
    int index;
    probe_until([&](int* done) { MPI_Testsome(1, r, done, &index, MPI_STATUSES_IGNORE); });
  }));
  rows.push_back(request("request_get_status", [](MPI_Request* r) {
    probe_until([&](int* done) { MPI_Request_get_status(*r, done, MPI_STATUS_IGNORE); });
    // Completed by the hidden name, because MPI_Wait would itself be an acquire.
    HIDDEN(MPI_Wait)(r, MPI_STATUS_IGNORE);
  }));
}

#define S send_values
#define R receive_values
#define COLL(name, ...)                              \
  rows.push_back(collective(name, [](Place& place) { \
    (void)place;                                     \
    __VA_ARGS__;                                     \
  }))

void add_collectives(std::vector<Row>& rows) {
  COLL("barrier", MPI_Barrier(W));
  COLL("bcast", MPI_Bcast(R, 1, MPI_INT, 1, W));
  COLL("reduce", MPI_Reduce(S, R, 1, MPI_INT, MPI_SUM, 0, W));
  COLL("allreduce", MPI_Allreduce(S, R, 1, MPI_INT, MPI_SUM, W));
  COLL("gather", MPI_Gather(S, 1, MPI_INT, R, 1, MPI_INT, 0, W));
  COLL("gatherv", MPI_Gatherv(S, 1, MPI_INT, R, ones, displacements, MPI_INT, 0, W));
  COLL("scatter", MPI_Scatter(S, 1, MPI_INT, R, 1, MPI_INT, 1, W));
  COLL("scatterv", MPI_Scatterv(S, ones, displacements, MPI_INT, R, 1, MPI_INT, 1, W));
  COLL("allgather", MPI_Allgather(S, 1, MPI_INT, R, 1, MPI_INT, W));
  COLL("allgatherv", MPI_Allgatherv(S, 1, MPI_INT, R, ones, displacements, MPI_INT, W));
  COLL("alltoall", MPI_Alltoall(S, 1, MPI_INT, R, 1, MPI_INT, W));
  COLL("alltoallv",
       MPI_Alltoallv(S, ones, displacements, MPI_INT, R, ones, displacements, MPI_INT, W));
  COLL("alltoallw",
       MPI_Alltoallw(S, ones, int_displacements, ints, R, ones, int_displacements, ints, W));
  COLL("reduce_scatter", MPI_Reduce_scatter(S, R, ones, MPI_INT, MPI_SUM, W));
  COLL("reduce_scatter_block", MPI_Reduce_scatter_block(S, R, 1, MPI_INT, MPI_SUM, W));
  COLL("neighbor_allgather", MPI_Neighbor_allgather(S, 1, MPI_INT, R, 1, MPI_INT, place.ring));
  COLL("neighbor_allgatherv",
       MPI_Neighbor_allgatherv(S, 1, MPI_INT, R, ones, displacements, MPI_INT, place.ring));
  COLL("neighbor_alltoall", MPI_Neighbor_alltoall(S, 1, MPI_INT, R, 1, MPI_INT, place.ring));
  COLL("neighbor_alltoallv", MPI_Neighbor_alltoallv(S, ones, displacements, MPI_INT, R, ones,
                                                    displacements, MPI_INT, place.ring));
  COLL("neighbor_alltoallw", MPI_Neighbor_alltoallw(S, ones, byte_displacements, ints, R, ones,
                                                    byte_displacements, ints, place.ring));
}

// Calls that collectively create or free objects: all of them may synchronise.
void add_constructors(std::vector<Row>& rows) {
  COLL("comm_dup", MPI_Comm made; MPI_Comm_dup(W, &made); HIDDEN(MPI_Comm_free)(&made));
  COLL("comm_split", MPI_Comm made; MPI_Comm_split(W, 0, 0, &made); HIDDEN(MPI_Comm_free)(&made));
  COLL("comm_split_type", MPI_Comm made;
       MPI_Comm_split_type(W, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
       HIDDEN(MPI_Comm_free)(&made));
  COLL("cart_create", MPI_Comm made; int size = 2; int wrap = 1;
       MPI_Cart_create(W, 1, &size, &wrap, 0, &made); HIDDEN(MPI_Comm_free)(&made));
  COLL("win_create", MPI_Win made; MPI_Win_create(S, 4, 1, MPI_INFO_NULL, W, &made);
       HIDDEN(MPI_Win_free)(&made));
  COLL("win_allocate", MPI_Win made; void* memory;
       MPI_Win_allocate(8, 1, MPI_INFO_NULL, W, &memory, &made); HIDDEN(MPI_Win_free)(&made));
  COLL("win_free", MPI_Win made; HIDDEN(MPI_Win_create)(S, 4, 1, MPI_INFO_NULL, W, &made);
       MPI_Win_free(&made));
}

void add_nonblocking(std::vector<Row>& rows) {
#define NONBLOCKING(name, ...) \
  rows.push_back(nonblocking(name, [](MPI_Request* request) { __VA_ARGS__; }))
  NONBLOCKING("ibarrier_wait", MPI_Ibarrier(W, request));
  NONBLOCKING("ibcast_wait", MPI_Ibcast(R, 1, MPI_INT, 1, W, request));
  NONBLOCKING("ireduce_wait", MPI_Ireduce(S, R, 1, MPI_INT, MPI_SUM, 0, W, request));
  NONBLOCKING("iallreduce_wait", MPI_Iallreduce(S, R, 1, MPI_INT, MPI_SUM, W, request));
  NONBLOCKING("igather_wait", MPI_Igather(S, 1, MPI_INT, R, 1, MPI_INT, 0, W, request));
  NONBLOCKING("iscatter_wait", MPI_Iscatter(S, 1, MPI_INT, R, 1, MPI_INT, 1, W, request));
  NONBLOCKING("iallgather_wait", MPI_Iallgather(S, 1, MPI_INT, R, 1, MPI_INT, W, request));
  NONBLOCKING("ialltoall_wait", MPI_Ialltoall(S, 1, MPI_INT, R, 1, MPI_INT, W, request));
}

// Notification through another window: rank 1 sets a flag in it after changing the first window's
// memory.
void add_other_windows(std::vector<Row>& rows) {
  rows.push_back({"win_sync_of_own_flag", [](Place& place) {
                    if (origin()) {
                      volatile int64_t* flag = place.other_memory;
                      while (*flag == 0) {
                        HIDDEN(MPI_Win_flush_all)(place.other);  // progress only
                      }
                      MPI_Win_sync(place.window.win);
                      *flag = 0;
                    } else {
                      const int64_t one = 1;
                      HIDDEN(MPI_Put)(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, place.other);
                      HIDDEN(MPI_Win_flush)(0, place.other);
                    }
                  }});
  const auto poll = [](const std::string& name, auto read) {
    return Row{name, [read](Place& place) {
                 if (origin()) {
                   for (int64_t seen = 0; seen == 0;) {
                     read(place, &seen);
                   }
                 } else {
                   const int64_t one = 1;
                   HIDDEN(MPI_Accumulate)
                   (&one, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, MPI_REPLACE, place.other);
                   HIDDEN(MPI_Win_flush)(1, place.other);
                 }
               }};
  };
  rows.push_back(poll("other_window_fetch_and_op_flush", [](Place& place, int64_t* seen) {
    const int64_t none = 0;
    MPI_Fetch_and_op(&none, seen, MPI_INT64_T, 1, 0, MPI_NO_OP, place.other);
    MPI_Win_flush(1, place.other);
  }));
  if (strict_flush())
    rows.push_back(poll("other_window_get_flush_local", [](Place& place, int64_t* seen) {
      MPI_Get(seen, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, place.other);
      MPI_Win_flush_local(1, place.other);
    }));
  rows.push_back(poll("other_window_rget_accumulate_wait", [](Place& place, int64_t* seen) {
    const int64_t none = 0;
    MPI_Request request;
    MPI_Rget_accumulate(&none, 1, MPI_INT64_T, seen, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T,
                        MPI_NO_OP, place.other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }));
  // Collective, so it may synchronise: here, something else does.
  rows.push_back({"other_window_set_info", [](Place& place) {
                    MPI_Info nothing;
                    MPI_Info_create(&nothing);
                    HIDDEN(MPI_Barrier)(W);
                    MPI_Win_set_info(place.other, nothing);
                    MPI_Info_free(&nothing);
                  }});
  rows.push_back({"other_window_fence", [](Place&) {
                    MPI_Win made;
                    HIDDEN(MPI_Win_create)(S, 4, 1, MPI_INFO_NULL, W, &made);
                    MPI_Win_fence(0, made);
                    HIDDEN(MPI_Win_free)(&made);
                  }});
}

std::string path_of_file() {
  const char* folder = std::getenv("TMPDIR");
  int number = static_cast<int>(getpid());
  HIDDEN(MPI_Bcast)(&number, 1, MPI_INT, 0, W);
  return std::string(folder != nullptr ? folder : "/tmp") + "/nearcache_semantics." +
         std::to_string(number);
}

// Rank 1 makes a file that contains a word, and rank 0 learns of it by `look`, which returns
// whether it found the file by one non-collective MPI call. The file gets its name when it is
// closed: an MPI that opens the file it has just created would fail if rank 0 deleted it in
// between.
Row file_made(const std::string& name, std::function<bool(const char*)> look) {
  return {name, [look](Place&) {
            const std::string path = path_of_file();
            if (origin()) {
              while (!look(path.c_str())) {
              }
            } else {
              const std::string unfinished = path + ".new";
              MPI_File file;
              HIDDEN(MPI_File_open)
              (MPI_COMM_SELF, unfinished.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
               &file);
              HIDDEN(MPI_File_write)(file, send_values, 1, MPI_INT, MPI_STATUS_IGNORE);
              HIDDEN(MPI_File_close)(&file);
              EXPECT_EQ(std::rename(unfinished.c_str(), path.c_str()), 0);
            }
            HIDDEN(MPI_Barrier)(W);
            if (origin()) {
              unlink(path.c_str());
            }
          }};
}

// Returns whether the file has contents, according to `ask`.
bool size_told(const char* path, const std::function<void(MPI_File, MPI_Offset*)>& ask) {
  MPI_File file;
  MPI_Offset size = 0;
  if (HIDDEN(MPI_File_open)(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
      MPI_SUCCESS) {
    return false;
  }
  ask(file, &size);
  HIDDEN(MPI_File_close)(&file);
  return size > 0;
}

void add_files(std::vector<Row>& rows) {
  rows.push_back(file_made("file_delete", [](const char* path) {
    return MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS;
  }));
  rows.push_back(file_made("file_open", [](const char* path) {
    MPI_File file;
    if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
      return false;
    }
    HIDDEN(MPI_File_close)(&file);
    return true;
  }));
  rows.push_back(file_made("file_get_size", [](const char* path) {
    return size_told(path, [](MPI_File file, MPI_Offset* size) { MPI_File_get_size(file, size); });
  }));
  rows.push_back(file_made("file_seek", [](const char* path) {
    return size_told(path, [](MPI_File file, MPI_Offset* size) {
      MPI_File_seek(file, 0, MPI_SEEK_END);
      HIDDEN(MPI_File_get_position)(file, size);
    });
  }));
}

// Available where the host has them (ULFM); checked by the host's own name, because Nearcache
// always exports the other one. MPICH has the functions, but no network layer that supports them:
// they end the program.
template <typename Function>
Function of_ulfm(const char* name) {
#ifndef OPEN_MPI
  return nullptr;
#endif
  const std::string hidden = std::string("P") + name;
  return dlsym(RTLD_DEFAULT, hidden.c_str()) != nullptr
             ? reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name))
             : nullptr;
}

void add_agreements(std::vector<Row>& rows) {
  if (const auto agree = of_ulfm<int (*)(MPI_Comm, int*)>("MPIX_Comm_agree")) {
    rows.push_back(collective("comm_agree", [agree](Place&) {
      int flag = 1;
      EXPECT_EQ(agree(W, &flag), MPI_SUCCESS);
    }));
  }
  if (const auto shrink = of_ulfm<int (*)(MPI_Comm, MPI_Comm*)>("MPIX_Comm_shrink")) {
    rows.push_back(collective("comm_shrink", [shrink](Place&) {
      MPI_Comm made;
      EXPECT_EQ(shrink(W, &made), MPI_SUCCESS);
      HIDDEN(MPI_Comm_free)(&made);
    }));
  }
}

// Receives messages that the row only probed for.
void after_row(const Row& row) {
  if (origin() && (row.name == "probe" || row.name == "iprobe")) {
    HIDDEN(MPI_Recv)(receive_values, 1, MPI_INT, 1, 1, W, MPI_STATUS_IGNORE);
  }
}

void with_place(const char* mode, const std::function<void(Place&)>& body) {
  with_window(false, mode, [&](Window& window) {
    Place place{window, MPI_WIN_NULL, nullptr, MPI_COMM_NULL};
    pair();  // collective over all ranks
    if (!neighbour()) {
      int size = 2, wrap = 1;
      MPI_Cart_create(W, 1, &size, &wrap, 0, &place.ring);
      MPI_Win_allocate(8, 8, MPI_INFO_NULL, W, &place.other_memory, &place.other);
      *place.other_memory = 0;
      MPI_Barrier(W);
      MPI_Win_lock_all(0, place.other);
    }
    MPI_Win_lock_all(0, window.win);
    check::hidden_barrier();
    body(place);
    check::hidden_barrier();
    MPI_Win_unlock_all(window.win);
    if (!neighbour()) {
      MPI_Win_unlock_all(place.other);
      MPI_Win_free(&place.other);
      MPI_Comm_free(&place.ring);
    }
  });
}

void run_transparent(const Row& row) {
  with_place("transparent", [&](Place& place) {
    int64_t first = -1, repeat = -1, second = -1;
    if (origin()) {
      get(place.window, &first);
      const auto hits = ADDED(place.window.win, hits_pending, get(place.window, &repeat));
      EXPECT_CACHED(hits == 1);
      place.window.version++;
    }
    neighbours_read_within(place.window);
    if (check::rank == target) {
      change_in_epoch(place.window);
    }
    if (!neighbour()) row.call(place);
    if (origin()) {
      get(place.window, &second);
      MPI_Win_flush(target, place.window.win);
      EXPECT_EQ(second, value(place.window.version, semantics::place));
      after_row(row);
    }
  });
}

void run_always(const Row& row) {
  with_place("always", [&](Place& place) {
    int64_t first = -1, second = -1;
    if (origin()) {
      get(place.window, &first);
      MPI_Win_flush(target, place.window.win);
    }
    neighbours_read_within(place.window);
    if (!neighbour()) row.call(place);
    if (origin()) {
      const auto hits = ADDED(place.window.win, hits_full, get(place.window, &second));
      EXPECT_CACHED(hits == 1);
      MPI_Win_flush(target, place.window.win);
      EXPECT_EQ(first, value(place.window.version, semantics::place));
      EXPECT_EQ(second, first);
      after_row(row);
    }
  });
}

}  // namespace

void add_learn_rows(std::vector<check::Case>& cases) {
  std::vector<Row> rows;
  add_messages(rows);
  add_requests(rows);
  add_collectives(rows);
  add_constructors(rows);
  add_nonblocking(rows);
  add_other_windows(rows);
  add_agreements(rows);
  add_files(rows);
  for (const Row& row : rows) {
    cases.push_back({"learn_" + row.name, [row] { run_transparent(row); }});
    cases.push_back({"always_" + row.name, [row] { run_always(row); }});
  }
}

}  // namespace semantics
