// Rows whose call completes the first get: get; CALL; the target changes; get again.
#include "semantics.h"

namespace semantics {
namespace {

// One access epoch of all ranks but the target. `open` and `close` are called on every rank.
struct Epoch {
  const char* name;
  std::function<void(MPI_Win)> open;
  std::function<void(MPI_Win)> close;
  // completion by a flush: the epoch continues; rank 1 changes its memory in an epoch, too
  bool stays_open;
  bool learns = true;  // of stores not made under a lock by their owner
};

bool reads() { return check::rank != target; }

// Returns the group of the target, or of all others.
MPI_Group group_of(bool the_target) {
  MPI_Group world, group;
  const int member = target;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  (the_target ? MPI_Group_incl : MPI_Group_excl)(world, 1, &member, &group);
  MPI_Group_free(&world);
  return group;
}

void open_pscw(MPI_Win win) {
  MPI_Group group = group_of(reads());
  if (reads()) {
    MPI_Win_start(group, 0, win);
  } else {
    MPI_Win_post(group, 0, win);
  }
  MPI_Group_free(&group);
}

void close_pscw(MPI_Win win, bool poll) {
  if (reads()) {
    MPI_Win_complete(win);
  } else if (poll) {
    for (int done = 0; !done;) {
      MPI_Win_test(win, &done);
    }
  } else {
    MPI_Win_wait(win);
  }
}

std::function<void(MPI_Win)> on_readers(std::function<void(MPI_Win)> call) {
  return [call](MPI_Win win) {
    if (reads()) {
      call(win);
    }
  };
}

void lock_all(MPI_Win win) { MPI_Win_lock_all(0, win); }
void lock_target(MPI_Win win) { MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win); }

const std::vector<Epoch> epochs = {
    {"fence", [](MPI_Win win) { MPI_Win_fence(0, win); },
     [](MPI_Win win) { MPI_Win_fence(0, win); }, false},
    {"fence_asserted", [](MPI_Win win) { MPI_Win_fence(MPI_MODE_NOPRECEDE, win); },
     [](MPI_Win win) { MPI_Win_fence(MPI_MODE_NOSUCCEED, win); }, false},
    {"complete_wait", open_pscw, [](MPI_Win win) { close_pscw(win, false); }, false},
    {"complete_test", open_pscw, [](MPI_Win win) { close_pscw(win, true); }, false},
    {"lock_shared_unlock", on_readers(lock_target),
     on_readers([](MPI_Win win) { MPI_Win_unlock(target, win); }), false, false},
    {"lock_exclusive_unlock",
     on_readers([](MPI_Win win) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win); }),
     on_readers([](MPI_Win win) { MPI_Win_unlock(target, win); }), false},
    {"lock_all_unlock_all", on_readers(lock_all),
     on_readers([](MPI_Win win) { MPI_Win_unlock_all(win); }), false, false},
    {"flush", lock_all, on_readers([](MPI_Win win) { MPI_Win_flush(target, win); }), true},
    {"flush_all", lock_all, on_readers([](MPI_Win win) { MPI_Win_flush_all(win); }), true},
    {"flush_local", lock_all, on_readers([](MPI_Win win) { MPI_Win_flush_local(target, win); }),
     true},
    {"flush_local_all", lock_all, on_readers([](MPI_Win win) { MPI_Win_flush_local_all(win); }),
     true},
};

// Waits until what the target stored without a lock of its own may be read: after a call that
// notifies others; with strict_flush, the completion of any get suffices.
void changed() {
  if (strict_flush()) {
    check::hidden_barrier();
  } else {
    MPI_Barrier(check::world);
  }
}

// The target changes its memory while all hold an epoch.
void changes_in_epoch(Window& window) {
  check::hidden_barrier();
  if (check::rank == target) {
    change_in_epoch(window);
  } else {
    window.version++;
  }
  changed();
}

// The first get and its repeat: the repeat is a pending hit, and both see the current contents.
// (With neighbours it may be a full hit on what one of them has fetched by then, or a miss while
// that is being replaced.)
void read_twice(Window& window, const Epoch& epoch) {
  int64_t first = -1, repeat = -1;
  if (reads()) {
    get(window, &first);
    const auto hits = ADDED(window.win, hits_pending, get(window, &repeat));
    EXPECT_CACHED(hits == 1 || shares());
  }
  epoch.close(window.win);
  if (reads()) {
    EXPECT_EQ(first, value(window.version, place));
    EXPECT_EQ(repeat, value(window.version, place));
  }
}

void run_closing(const Epoch& epoch, bool allocate) {
  with_window(allocate, "transparent", [&](Window& window) {
    for (int turn = 0; turn < 3; turn++) {
      epoch.open(window.win);
      read_twice(window, epoch);
      check::hidden_barrier();
      change(window);
      if (!epoch.learns) changed();
    }
  });
}

void run_flushing(const Epoch& epoch, bool allocate) {
  with_window(allocate, "transparent", [&](Window& window) {
    epoch.open(window.win);
    for (int turn = 0; turn < 3; turn++) {
      read_twice(window, epoch);
      changes_in_epoch(window);
    }
    MPI_Win_unlock_all(window.win);
  });
}

// A way to wait for a request.
struct Waiting {
  const char* name;
  std::function<void(MPI_Request*)> wait;
};

const std::vector<Waiting> waitings = {
    {"wait", [](MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }},
    {"waitall", [](MPI_Request* request) { MPI_Waitall(1, request, MPI_STATUSES_IGNORE); }},
    {"waitany",
     [](MPI_Request* request) {
       int index;
       MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
     }},
    {"waitsome",
     [](MPI_Request* request) {
       int count, index;
       MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
     }},
    {"test",
     [](MPI_Request* request) {
       for (int done = 0; !done;) {
         MPI_Test(request, &done, MPI_STATUS_IGNORE);
       }
     }},
    {"testall",
     [](MPI_Request* request) {
       for (int done = 0; !done;) {
         MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
       }
     }},
    {"testany",
     [](MPI_Request* request) {
       for (int done = 0, index; !done;) {
         MPI_Testany(1, request, &index, &done, MPI_STATUS_IGNORE);
       }
     }},
    {"testsome",
     [](MPI_Request* request) {
       for (int count = 0, index; count == 0;) {
         MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
       }
     }},
};

void rget(Window& window, int64_t* to, MPI_Request* request) {
  MPI_Rget(to, 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, window.win, request);
}

void run_request(const Waiting& waiting, bool allocate) {
  with_window(allocate, "transparent", [&](Window& window) {
    lock_all(window.win);
    for (int turn = 0; turn < 3; turn++) {
      if (reads()) {
        int64_t first = -1, repeat = -1;
        MPI_Request requests[2];
        rget(window, &first, &requests[0]);
        rget(window, &repeat, &requests[1]);
        waiting.wait(&requests[0]);
        EXPECT(requests[0] == MPI_REQUEST_NULL);
        EXPECT_EQ(first, value(window.version, place));
        waiting.wait(&requests[1]);
        EXPECT(requests[1] == MPI_REQUEST_NULL);
        EXPECT_EQ(repeat, value(window.version, place));
      }
      changes_in_epoch(window);
    }
    MPI_Win_unlock_all(window.win);
  });
}

}  // namespace

void add_complete_rows(std::vector<check::Case>& cases) {
  for (const bool allocate : {false, true}) {
    const std::string end = allocate ? "_allocated" : "";
    for (const Epoch& epoch : epochs) {
      cases.push_back({std::string(epoch.name) + end, [&epoch, allocate] {
                         epoch.stays_open ? run_flushing(epoch, allocate)
                                          : run_closing(epoch, allocate);
                       }});
    }
    for (const Waiting& waiting : waitings) {
      cases.push_back({std::string("rget_") + waiting.name + end,
                       [&waiting, allocate] { run_request(waiting, allocate); }});
    }
  }
}

}  // namespace semantics
