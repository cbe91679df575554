// The cases of phases.cpp about locks: what comes between them, and those that are deferred.
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "phases.h"

namespace phases {
namespace {

// Another rank's exclusive epoch precedes this rank's next lock.
void after_an_exclusive_epoch(bool own_store) {
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    const int who = own_store ? owner : writer;
    if (check::rank == who) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
      const int64_t value = 1000;
      if (own_store) {
        window.memory[place] = value;
      } else {
        MPI_Put(&value, 1, MPI_INT64_T, owner, place, 1, MPI_INT64_T, window.win);
      }
      MPI_Win_unlock(owner, window.win);
    }
    after(who, reader);
    if (check::rank == reader) {
      int64_t found = -1;
      get_locked(window, &found);
      EXPECT_EQ(found, 1000);
    }
    check::hidden_barrier();
  });
}

// The reader keeps what it has read of one window. A lock of another one, which pauses as it is
// only ever locked, comes after an epoch in which the owner stored to the first: a shared epoch, of
// which nobody is told, or an exclusive one. The other window is the one used last.
void lock_of_a_pause(int type) {
  with_window(true, [&](Window& window) {
    Window other{};
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, check::world, &other.memory, &other.win);
    const auto lock_and_unlock = [&](int how, int target) {
      MPI_Win_lock(how, target, 0, other.win);
      MPI_Win_unlock(target, other.win);
    };
    for (int turn = 0; turn < 200 && check::rank == reader; ++turn)
      lock_and_unlock(MPI_LOCK_EXCLUSIVE, owner);
    settle(window, get_and_flush);
    for (int64_t time = 1; time < 4; ++time) {
      int64_t found = -1;
      if (check::rank == reader) {
        get_and_flush(window, &found);
        lock_and_unlock(MPI_LOCK_SHARED, reader);  // tells nothing
      }
      after(reader, owner);
      if (check::rank == owner) {
        const int how = type == MPI_LOCK_SHARED ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
        MPI_Win_lock(how, owner, 0, other.win);
        window.memory[place] = 1000 * time;
        MPI_Win_unlock(owner, other.win);
      }
      after(owner, reader);
      if (check::rank == reader) {
        MPI_Win_lock(type, owner, 0, other.win);
        get_and_flush(window, &found);
        MPI_Win_unlock(owner, other.win);
        EXPECT_EQ(found, 1000 * time);
      }
    }
    MPI_Barrier(check::world);
    MPI_Win_free(&other.win);
  });
}

// The writer's exclusive epoch: 1000 and 2000, which are no places.
void write_exclusively(const Window& window, int64_t second) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
  const int64_t values[2] = {1000, 2000};
  MPI_Put(&values[0], 1, MPI_INT64_T, owner, place, 1, MPI_INT64_T, window.win);
  MPI_Put(&values[1], 1, MPI_INT64_T, owner, second, 1, MPI_INT64_T, window.win);
  MPI_Win_unlock(owner, window.win);
}

// A shared epoch sees all of another rank's exclusive epoch or nothing, even if the cache had
// already answered part of it when the exclusive epoch began. `fails`: an MPI call that fails once
// as the epoch ends, and is then repeated.
void an_exclusive_epoch_comes_between(int64_t second, const char* fails = nullptr) {
  if (fails != nullptr && !shimmed()) return check::skip("no call fails here");
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    int64_t first = -1, then = -1;
    if (check::rank == reader) {
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      get(window, &first);
    }
    // A lock that has been acquired keeps the writer out until the reader's epoch has ended.
    if (check::cached() && !strict()) {
      after(reader, writer);
      if (check::rank == writer) write_exclusively(window, second);
      after(writer, reader);
    }
    if (check::rank == reader) {
      if (second == other_place) get(window, &then, second);
      if (fails != nullptr) {
        MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
        shim("shim_fail", fails, 1);
        EXPECT(MPI_Win_unlock(owner, window.win) != MPI_SUCCESS);
      }
      MPI_Win_unlock(owner, window.win);
      if (second == other_place) EXPECT_EQ(first == place, then == other_place);
      EXPECT(first == place || first == 1000);
      if (check::cached() && !strict()) EXPECT_EQ(first, 1000);
    }
    check::hidden_barrier();
  });
}

// The same where the lock has gone down before anything was served, though MPI may take it later
// still. `begin`: the reader's first calls under it. Where it is held, the writer waits for it.
void an_exclusive_epoch_comes_after(void (*begin)(const Window&, int64_t* to)) {
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    int64_t found[2] = {-1, -1}, then = -1;
    int token = 0;
    if (check::rank == reader) {
      for (int turn = 0; turn < 4; ++turn) {
        if (turn > 0) MPI_Win_unlock(owner, window.win);
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        begin(window, found);
      }
    }
    after(reader, writer);
    if (check::rank == writer) {
      write_exclusively(window, other_place);
      HIDDEN(MPI_Send)(&token, 1, MPI_INT, reader, 78, check::hidden_comm);
    }
    if (check::rank == reader) {
      MPI_Request written;
      HIDDEN(MPI_Irecv)(&token, 1, MPI_INT, writer, 78, check::hidden_comm, &written);
      const auto wait = [&](int turns) {
        for (int done = 0; done == 0 && turns > 0; --turns) {
          HIDDEN(MPI_Test)(&written, &done, MPI_STATUS_IGNORE);
          usleep(200);
        }
      };
      wait(500);
      get(window, &then, other_place);
      MPI_Win_unlock(owner, window.win);
      EXPECT_EQ(found[0] == place, then == other_place);
      EXPECT(found[0] == place || found[0] == 1000);
      wait(100000);
    }
    check::hidden_barrier();
  });
}

void get_after_an_empty_flush(const Window& window, int64_t* to) {
  MPI_Win_flush(owner, window.win);
  get(window, to);
}
void get_by_request(const Window& window, int64_t* to) { rget_and_wait(window, to, place, owner); }
void get_of_a_derived_type(const Window& window, int64_t* to) {
  static const MPI_Datatype pair = [] {
    MPI_Datatype made;
    MPI_Type_vector(2, 1, 2, MPI_INT64_T, &made);
    MPI_Type_commit(&made);
    return made;
  }();
  MPI_Get(to, 2, MPI_INT64_T, owner, place, 1, pair, window.win);
}

// A flush under a lock that was not taken takes it: from then on the writer waits.
void a_flush_takes_the_lock() {
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    if (check::rank == reader) {
      int64_t first = -1, then = -1;
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      get(window, &first);
      MPI_Win_flush(owner, window.win);
      get(window, &then);
      MPI_Win_unlock(owner, window.win);
      EXPECT_EQ(first, place);
      EXPECT_EQ(then, place);
    }
    check::hidden_barrier();
  });
}

int put_locked(const Window& window, int64_t* with) {
  return MPI_Put(with, 1, MPI_INT64_T, owner, other_place, 1, MPI_INT64_T, window.win);
}
int get_missed(const Window& window, int64_t* to) {
  return MPI_Get(to, 1, MPI_INT64_T, owner, 20, 1, MPI_INT64_T, window.win);
}
int rget_missed(const Window& window, int64_t* to) {
  MPI_Request request;
  const int rc = MPI_Rget(to, 1, MPI_INT64_T, owner, 20, 1, MPI_INT64_T, window.win, &request);
  return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}
int flush_locked(const Window& window, int64_t* to) {
  get(window, to, 20);
  return MPI_Win_flush(owner, window.win);
}

// A lock that goes down late may be refused: the operation that needs it fails until MPI grants it,
// also if it was first refused at a call that tells others of it.
void a_late_lock_is_refused(int (*operation)(const Window&, int64_t*), bool message_first) {
  if (!shimmed()) return check::skip("no call fails here");
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    if (check::rank == reader) {
      int64_t word = 20, to = 0, from = 1;
      MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
      if (operation == flush_locked) get_locked(window, &to, 20);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      shim("shim_fail", "MPI_Win_lock", 100);
      if (message_first) {
        MPI_Request request;
        MPI_Irecv(&to, 1, MPI_INT64_T, reader, 3, check::world, &request);
        MPI_Send(&from, 1, MPI_INT64_T, reader, 3, check::world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(to, from);
      } else {
        EXPECT(operation(window, &word) != MPI_SUCCESS);
      }
      shim("shim_fail", "MPI_Win_lock", 0);
      EXPECT(operation(window, &word) == MPI_SUCCESS);
      EXPECT(MPI_Win_unlock(owner, window.win) == MPI_SUCCESS);
      EXPECT_EQ(word, 20);
      if (operation == put_locked) get_locked(window, &to, other_place);
      if (operation == put_locked) EXPECT_EQ(to, 20);
    }
    check::hidden_barrier();
  });
}

// The program may use the buffer of a get that has failed for something else.
void a_get_under_a_late_lock_is_refused_in_part() {
  if (!shimmed()) return check::skip("no call fails here");
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    int64_t two[2] = {-1, -1};
    if (check::rank == reader) {
      MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      shim("shim_fail", "MPI_Get", 100);
      EXPECT(MPI_Get(two, 2, MPI_INT64_T, owner, place, 2, MPI_INT64_T, window.win) != MPI_SUCCESS);
      shim("shim_fail", "MPI_Get", 0);
      two[0] = two[1] = -2;
    }
    after(reader, writer);
    if (check::rank == writer) {
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      put_and_flush(window, 1, 50, owner);
      MPI_Win_unlock(owner, window.win);
    }
    after(writer, reader);
    if (check::rank == reader) {
      MPI_Win_unlock(owner, window.win);
      EXPECT_EQ(two[0], -2);
      EXPECT_EQ(two[1], -2);
    }
    check::hidden_barrier();
  });
}

// A put under a deferred lock is issued under that lock.
void a_put_takes_the_lock() {
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    if (check::rank == reader) {
      int64_t first = -1;
      const int64_t value = 77;
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      get(window, &first);
      MPI_Put(&value, 1, MPI_INT64_T, owner, other_place, 1, MPI_INT64_T, window.win);
      MPI_Win_unlock(owner, window.win);
      EXPECT_EQ(first, place);
      int64_t found = -1;
      get_locked(window, &found, other_place);
      EXPECT_EQ(found, 77);
    }
    check::hidden_barrier();
  });
}

// More gets than are remembered, one of them with a derived type.
void many_gets_in_one_epoch() {
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    if (check::rank == reader) {
      int64_t found[words];
      for (int turn = 0; turn < 3; ++turn) {
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        for (int64_t word = 0; word < flag_place; ++word) get(window, &found[word], word);
        MPI_Win_unlock(owner, window.win);
        for (int64_t word = 0; word < flag_place; ++word) EXPECT_EQ(found[word], word);
      }
      MPI_Datatype pair;
      MPI_Type_vector(2, 1, 8, MPI_INT64_T, &pair);
      MPI_Type_commit(&pair);
      for (int turn = 0; turn < 3; ++turn) {
        int64_t two[2] = {-1, -1};
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        MPI_Get(two, 2, MPI_INT64_T, owner, place, 1, pair, window.win);
        MPI_Win_unlock(owner, window.win);
        EXPECT_EQ(two[0], place);
        EXPECT_EQ(two[1], place + 8);
      }
      MPI_Type_free(&pair);
    }
    check::hidden_barrier();
  });
}

// Where gets bypass the cache, a lock that goes down late gains nothing, and its window cannot
// pause.
void locks_where_gets_bypass() {
  with_window(false, [](Window& window) {
    settle(window, get_locked);
    const auto goes_down_at_once = [&](int count) {
      int64_t found[words];
      bool at_once = false;
      for (int turn = 0; turn < 10; ++turn) {
        const long before = shim("shim_calls", "MPI_Win_lock");
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        at_once = shim("shim_calls", "MPI_Win_lock") > before;
        MPI_Get(found, count, MPI_INT64_T, owner, 0, count, MPI_INT64_T, window.win);
        MPI_Win_unlock(owner, window.win);
      }
      return at_once;
    };
    if (check::rank == reader && shimmed()) {
      EXPECT_CACHED(!goes_down_at_once(1));
      EXPECT_CACHED(goes_down_at_once(words));
      EXPECT_CACHED(!goes_down_at_once(1));
    }
    check::hidden_barrier();
  });
}

// In modes always and user, a shared lock around gets that are served need not be acquired.
void locks_of_mode(nearcache_mode mode) {
  with_window(false, [&](Window& window) {
    if (check::cached()) nearcache_set_mode(window.win, mode);
    MPI_Barrier(check::world);
    if (check::rank == reader) {
      int64_t found = -1;
      get_locked(window, &found);
      const auto passed = check::stats(window.win).syncs_passed;
      for (int turn = 0; turn < 10; ++turn) {
        found = -1;
        get_locked(window, &found);
        EXPECT_EQ(found, place);
      }
      EXPECT_CACHED(check::stats(window.win).syncs_passed == passed);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      get(window, &found);
      get(window, &found, other_place);
      MPI_Win_unlock(owner, window.win);
      EXPECT_EQ(found, other_place);
    }
    check::hidden_barrier();
    // A lock that was acquired and released keeps nobody out.
    if (check::rank == writer) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
      MPI_Win_unlock(owner, window.win);
    }
    MPI_Barrier(check::world);
  });
}

#if MPI_VERSION >= 4
// From then on the writer counts no phases, and having notified others in this one no longer
// suffices.
void threads_that_come_by_a_session() {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    MPI_Session session = MPI_SESSION_NULL;
    if (check::rank == writer) {
      put_and_flush(window, 1, other_place, owner);
      MPI_Info info;
      MPI_Info_create(&info);
      MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
      MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
      MPI_Info_free(&info);
    }
    MPI_Barrier(check::world);
    int64_t found = -1;
    if (check::rank == reader) {
      get_and_flush(window, &found);
      EXPECT_EQ(found, place);
    }
    after(reader, writer);
    put_is_read(window);
    if (session != MPI_SESSION_NULL) MPI_Session_finalize(&session);
  });
}
#else
void threads_that_come_by_a_session() { check::skip("this MPI has no sessions"); }
#endif

// A window that turns out to have no room for a cache (run with less storage than it wants) already
// has deferred locks by then, including one of another target.
void locks_of_two_targets() {
  with_window(false, [](Window& window) {
    for (int turn = 0; turn < 20; ++turn) {
      MPI_Barrier(check::world);
      if (check::rank != reader) continue;
      int64_t found[2] = {-1, -1};
      for (const int target : {owner, writer}) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
      get(window, &found[0], place, owner);
      get(window, &found[1], place, writer);
      for (const int target : {owner, writer}) MPI_Win_unlock(target, window.win);
      EXPECT(found[0] == place && found[1] == place);
    }
    check::hidden_barrier();
  });
}

// Mode always, so that the reader's locks are deferred: its caches are made.
void with_deferred_locks(const std::vector<std::pair<const Window*, int>>& locks,
                         const std::function<void()>& body) {
  for (const auto& [window, target] : locks) {
    if (check::cached()) nearcache_set_mode(window->win, NEARCACHE_MODE_ALWAYS);
    int64_t found = -1;
    if (check::rank == reader) get_locked(*window, &found, place, target);
  }
  MPI_Barrier(check::world);
  body();
  MPI_Barrier(check::world);
}

// By the writer, exclusively and one after the other, once the reader has asked for its own.
void lock_both(const Window& first, const Window& second, int target_of_second) {
  after(reader, writer);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, first.win);
  usleep(300000);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target_of_second, 0, second.win);
  MPI_Win_unlock(target_of_second, second.win);
  MPI_Win_unlock(owner, first.win);
}

// Two ranks take the same locks in the same order, so that neither waits for what the other holds.
// The reader's gets come in the opposite order.
void locks_in_one_order(bool of_two_windows) {
  with_window(false, [&](Window& window) {
    with_window(false, [&](Window& other) {
      const Window& second = of_two_windows ? other : window;
      with_deferred_locks({{&window, owner}, {&second, writer}}, [&] {
        if (check::rank == reader) {
          int64_t found[2] = {-1, -1};
          MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
          MPI_Win_lock(MPI_LOCK_SHARED, writer, 0, second.win);
          after(reader, writer);
          usleep(100000);
          get(second, &found[1], other_place, writer);
          get(window, &found[0], other_place, owner);
          MPI_Win_unlock(writer, second.win);
          MPI_Win_unlock(owner, window.win);
          EXPECT(found[0] == other_place && found[1] == other_place);
        }
        if (check::rank == writer) lock_both(window, second, writer);
      });
    });
  });
}

// The second lock is exclusive, and acquired at once.
void an_exclusive_lock_after_a_shared_one() {
  with_window(false, [&](Window& window) {
    with_window(false, [&](Window& other) {
      with_deferred_locks({{&window, owner}}, [&] {
        if (check::rank == reader) {
          int64_t found = -1;
          MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
          after(reader, writer);
          usleep(100000);
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, other.win);
          get(window, &found, other_place);
          MPI_Win_unlock(owner, other.win);
          MPI_Win_unlock(owner, window.win);
          EXPECT_EQ(found, other_place);
        }
        if (check::rank == writer) lock_both(window, other, owner);
      });
    });
  });
}

// A rank that has learned of a lock by a message waits for it, but not for what follows it.
void a_message_under_a_lock() {
  with_window(false, [&](Window& window) {
    with_deferred_locks({{&window, owner}}, [&] {
      int token = 0;
      if (check::rank == reader) {
        int64_t found = -1;
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        MPI_Send(&token, 1, MPI_INT, writer, 5, check::world);
        usleep(100000);
        get(window, &found, other_place);
        MPI_Send(&token, 1, MPI_INT, writer, 5, check::world);
        MPI_Win_unlock(owner, window.win);
        EXPECT_EQ(found, other_place);
      }
      if (check::rank == writer) {
        MPI_Recv(&token, 1, MPI_INT, reader, 5, check::world, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
        MPI_Recv(&token, 1, MPI_INT, reader, 5, check::world, MPI_STATUS_IGNORE);
        MPI_Win_unlock(owner, window.win);
      }
    });
  });
}

// A thread asks for a lock whose holder waits for a message of another thread. That one takes a
// lock of its own meanwhile.
void another_threads_lock_is_not_waited_for() {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return check::skip("one thread");
  with_window(false, [](Window& window) {
    with_deferred_locks({{&window, owner}}, [&] {
      if (check::rank == owner) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
      check::hidden_barrier();
      int token = 0;
      if (check::rank == owner) {
        MPI_Recv(&token, 1, MPI_INT, reader, 5, check::world, MPI_STATUS_IGNORE);
        MPI_Win_unlock(owner, window.win);
      }
      if (check::rank == reader) {
        std::atomic<bool> told = false;
        int64_t found = -1;
        std::thread waits([&] {
          MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
          while (!told) usleep(1000);
          get(window, &found, other_place);
          MPI_Win_unlock(owner, window.win);
        });
        usleep(20000);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, writer, 0, window.win);
        MPI_Win_flush_all(window.win);
        MPI_Win_unlock(writer, window.win);
        MPI_Send(&token, 1, MPI_INT, owner, 5, check::world);
        told = true;
        waits.join();
        EXPECT_EQ(found, other_place);
      }
    });
  });
}

// Other ways in which ranks may learn of a lock. `tell` is called by all ranks, by the reader under
// its lock; it may use the other window, which `prepare` prepared.
void heard_of_under_a_lock(const std::function<void(const Window& other)>& prepare,
                           const std::function<void(const Window& other)>& tell,
                           const std::function<void(const Window& other)>& end) {
  with_window(false, [&](Window& window) {
    with_window(false, [&](Window& other) {
      with_deferred_locks({{&window, owner}}, [&] {
        int token = 0;
        prepare(other);
        if (check::rank == reader) {
          int64_t found = -1;
          MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
          tell(other);
          usleep(100000);
          get(window, &found, other_place);
          MPI_Send(&token, 1, MPI_INT, writer, 5, check::world);
          MPI_Win_unlock(owner, window.win);
          EXPECT_EQ(found, other_place);
        } else {
          tell(other);
        }
        if (check::rank == writer) {
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
          MPI_Recv(&token, 1, MPI_INT, reader, 5, check::world, MPI_STATUS_IGNORE);
          MPI_Win_unlock(owner, window.win);
        }
        end(other);
      });
    });
  });
}

void nothing(const Window&) {}

void a_reduction_under_a_lock() {
  heard_of_under_a_lock(
      nothing,
      [](const Window&) {
        const int one = 1;
        int sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, check::world);
      },
      nothing);
}

void a_fence_under_a_lock() {
  const auto fence = [](const Window& other) { MPI_Win_fence(0, other.win); };
  heard_of_under_a_lock(fence, fence, fence);
}

void a_put_under_a_lock() {
  heard_of_under_a_lock([](const Window& other) { MPI_Win_lock_all(0, other.win); },
                        [](const Window& other) {
                          if (check::rank == reader) put_and_flush(other, 1, flag_place, writer);
                          while (check::rank == writer && other.at(flag_place) == 0) usleep(10);
                        },
                        [](const Window& other) { MPI_Win_unlock_all(other.win); });
}

void an_unlock_under_a_lock() {
  heard_of_under_a_lock(
      [](const Window& other) {
        if (check::rank == reader) {
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, other.win);
          put_and_flush(other, 1, flag_place, owner);
        }
        after(reader, writer);
      },
      [](const Window& other) {
        if (check::rank == writer) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, other.win);
        if (check::rank != owner) MPI_Win_unlock(owner, other.win);
      },
      nothing);
}

// A lock also protects loads made under it by a rank that has a pointer to the target's memory.
void loads_under_a_lock(bool pointer_first) {
  with_window(false, [&](Window& window) {
    if (check::cached()) nearcache_set_mode(window.win, NEARCACHE_MODE_ALWAYS);
    MPI_Errhandler handler;
    MPI_Win_get_errhandler(window.win, &handler);
    MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
    const volatile int64_t* theirs = nullptr;
    const auto find = [&] {
      MPI_Aint size = 0;
      int unit = 0;
      int64_t* found = nullptr;
      if (MPI_Win_shared_query(window.win, owner, &size, &unit, &found) == MPI_SUCCESS && size > 0)
        theirs = found;
    };
    MPI_Barrier(check::world);
    if (check::rank == reader) {
      int64_t found = -1;
      get_locked(window, &found);
      if (pointer_first) find();
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      if (!pointer_first) find();
    }
    after(reader, writer);
    if (check::rank == writer) {
      const int64_t value = 1000;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
      MPI_Put(&value, 1, MPI_INT64_T, owner, place, 1, MPI_INT64_T, window.win);
      MPI_Win_unlock(owner, window.win);
    }
    if (check::rank == reader) {
      for (int turn = 0; turn < 200 && theirs != nullptr; ++turn) {
        EXPECT_EQ(theirs[place], place);
        usleep(1000);
      }
      MPI_Win_unlock(owner, window.win);
      if (theirs == nullptr) check::skip("no pointer to memory of an allocated window");
    }
    MPI_Win_set_errhandler(window.win, handler);
    MPI_Barrier(check::world);
  });
}

}  // namespace

void add_lock_cases(std::vector<check::Case>& cases) {
  cases.insert(
      cases.end(),
      {{"after_an_exclusive_epoch", [] { after_an_exclusive_epoch(false); }},
       {"after_a_store_under_an_exclusive_lock", [] { after_an_exclusive_epoch(true); }},
       {"exclusive_lock_of_a_pause", [] { lock_of_a_pause(MPI_LOCK_EXCLUSIVE); }},
       {"shared_lock_of_a_pause", [] { lock_of_a_pause(MPI_LOCK_SHARED); }},
       {"exclusive_epoch_before_a_miss", [] { an_exclusive_epoch_comes_between(other_place); }},
       {"exclusive_epoch_before_the_unlock", [] { an_exclusive_epoch_comes_between(flag_place); }},
       {"exclusive_epoch_before_an_unlock_whose_flush_fails",
        [] { an_exclusive_epoch_comes_between(other_place, "MPI_Win_flush"); }},
       {"exclusive_epoch_before_an_unlock_whose_get_fails",
        [] { an_exclusive_epoch_comes_between(other_place, "MPI_Get"); }},
       {"exclusive_epoch_after_an_empty_flush",
        [] { an_exclusive_epoch_comes_after(get_after_an_empty_flush); }},
       {"exclusive_epoch_after_a_request", [] { an_exclusive_epoch_comes_after(get_by_request); }},
       {"exclusive_epoch_after_a_get_of_a_derived_type",
        [] { an_exclusive_epoch_comes_after(get_of_a_derived_type); }},
       {"late_lock_is_refused_to_a_put", [] { a_late_lock_is_refused(put_locked, false); }},
       {"late_lock_is_refused_to_a_get", [] { a_late_lock_is_refused(get_missed, false); }},
       {"late_lock_is_refused_to_an_rget", [] { a_late_lock_is_refused(rget_missed, false); }},
       {"late_lock_is_refused_to_a_flush", [] { a_late_lock_is_refused(flush_locked, false); }},
       {"late_lock_is_refused_at_a_message", [] { a_late_lock_is_refused(get_missed, true); }},
       {"get_under_a_late_lock_is_refused_in_part", a_get_under_a_late_lock_is_refused_in_part},
       {"a_flush_takes_the_lock", a_flush_takes_the_lock},
       {"a_put_takes_the_lock", a_put_takes_the_lock},
       {"many_gets_in_one_epoch", many_gets_in_one_epoch},
       {"locks_where_gets_bypass", locks_where_gets_bypass},
       {"locks_in_mode_always", [] { locks_of_mode(NEARCACHE_MODE_ALWAYS); }},
       {"locks_in_mode_user", [] { locks_of_mode(NEARCACHE_MODE_USER); }},
       {"locks_of_two_targets", locks_of_two_targets},
       {"threads_that_come_by_a_session", threads_that_come_by_a_session},
       {"locks_of_two_targets_in_one_order", [] { locks_in_one_order(false); }},
       {"locks_of_two_windows_in_one_order", [] { locks_in_one_order(true); }},
       {"an_exclusive_lock_after_a_shared_one", an_exclusive_lock_after_a_shared_one},
       {"a_message_under_a_lock", a_message_under_a_lock},
       {"another_threads_lock_is_not_waited_for", another_threads_lock_is_not_waited_for},
       {"a_reduction_under_a_lock", a_reduction_under_a_lock},
       {"a_fence_under_a_lock", a_fence_under_a_lock},
       {"a_put_under_a_lock", a_put_under_a_lock},
       {"an_unlock_under_a_lock", an_unlock_under_a_lock},
       {"loads_under_a_lock", [] { loads_under_a_lock(true); }},
       {"loads_under_a_lock_by_a_late_pointer", [] { loads_under_a_lock(false); }}});
}

}  // namespace phases
