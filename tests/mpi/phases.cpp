// Quiet phases (docs/semantics.md): what mode transparent keeps although gets complete, and what
// ends that. Run with NEARCACHE_QUIET_AFTER=0 and over shared memory: ranks wait for each other by
// loads, and by messages that Nearcache does not see.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"

namespace {

constexpr int64_t words = 64, place = 5, other_place = 40, flag_place = 60;
constexpr int reader = 0, owner = 1, writer = 2;

struct Window {
  MPI_Win win;
  int64_t* memory;
  int64_t at(int64_t word) const { return reinterpret_cast<const volatile int64_t*>(memory)[word]; }
};

bool strict() { return std::getenv("NEARCACHE_STRICT_FLUSH") != nullptr; }
bool asks_for_more_than_nothing() {
  return std::strcmp(std::getenv("NEARCACHE_QUIET_AFTER"), "0") != 0;
}

// Sets a switch of shim_mpi; null if no call fails here.
void (*shim_fail())(const char*, int) {
  return reinterpret_cast<void (*)(const char*, int)>(dlsym(RTLD_DEFAULT, "shim_fail"));
}

// Rank `to` waits until rank `from` gets here, by a message that Nearcache does not see.
void after(int from, int to) {
  int token = 0;
  if (check::rank == from) HIDDEN(MPI_Send)(&token, 1, MPI_INT, to, 77, check::hidden_comm);
  if (check::rank != to) return;
  MPI_Request request;
  HIDDEN(MPI_Irecv)(&token, 1, MPI_INT, from, 77, check::hidden_comm, &request);
  for (int done = 0; HIDDEN(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    usleep(20);
}

void get(const Window& window, int64_t* to, int64_t word = place, int target = owner) {
  MPI_Get(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
}
void get_and_flush(const Window& window, int64_t* to, int64_t word = place, int target = owner) {
  get(window, to, word, target);
  MPI_Win_flush(target, window.win);
}
void get_locked(const Window& window, int64_t* to, int64_t word = place, int target = owner) {
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
  get(window, to, word, target);
  MPI_Win_unlock(target, window.win);
}
void rget_and_wait(const Window& window, int64_t* to, int64_t word = place, int target = owner) {
  MPI_Request request;
  MPI_Rget(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

using Read = void (*)(const Window&, int64_t*, int64_t, int);

uint64_t full_hits(const Window& window) { return check::stats(window.win).hits_full; }

// Reads until the reader is in a quiet phase, for which others must know that it reads.
void settle(const Window& window, Read read) {
  MPI_Barrier(check::world);
  if (check::rank == reader) {
    int64_t found = -1;
    for (int turn = 0; turn < 20000 && check::cached() && !strict(); ++turn) {
      const uint64_t before = full_hits(window);
      read(window, &found, place, owner);
      read(window, &found, place, owner);
      if (full_hits(window) > before) break;
    }
    read(window, &found, place, owner);
    read(window, &found, other_place, owner);
    EXPECT_EQ(found, other_place);
    const uint64_t before = full_hits(window);
    read(window, &found, place, owner);
    EXPECT_EQ(found, place);
    EXPECT_CACHED(full_hits(window) - before == (strict() ? 0 : 1));
  }
  check::hidden_barrier();
}

void with_window(bool lock_all, const std::function<void(Window&)>& body,
                 MPI_Comm comm = check::world) {
  Window window{};
  MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, comm, &window.memory, &window.win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check::rank, 0, window.win);
  for (int64_t word = 0; word < words; ++word) window.memory[word] = word;
  window.memory[flag_place] = 0;
  MPI_Win_unlock(check::rank, window.win);
  MPI_Barrier(check::world);
  if (lock_all) MPI_Win_lock_all(0, window.win);
  body(window);
  if (lock_all) MPI_Win_unlock_all(window.win);
  MPI_Win_free(&window.win);
}

void put_and_flush(const Window& window, int64_t value, int64_t word, int target) {
  MPI_Put(&value, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
  MPI_Win_flush(target, window.win);
}

void kept_across(bool lock_all, Read read) {
  with_window(lock_all, [&](Window& window) { settle(window, read); });
}

// A rank that polls its own window by loads learns of a put without a call (12.7, the rules of the
// unified model).
void a_flag_in_own_memory(Read read, bool accumulate) {
  with_window(true, [&](Window& window) {
    settle(window, read);
    if (check::rank == writer) {
      put_and_flush(window, 1000, place, owner);
      const int64_t one = 1;
      if (accumulate) {
        MPI_Accumulate(&one, 1, MPI_INT64_T, reader, flag_place, 1, MPI_INT64_T, MPI_SUM,
                       window.win);
        MPI_Win_flush(reader, window.win);
      } else {
        put_and_flush(window, one, flag_place, reader);
      }
    } else if (check::rank == reader) {
      while (window.at(flag_place) == 0) usleep(10);
      int64_t found = -1;
      read(window, &found, place, owner);
      EXPECT_EQ(found, 1000);
    }
    check::hidden_barrier();
  });
}

// A rank that does not know its window, as MPI has refused to note it there, tells of its writes
// all the same.
void a_writer_whose_window_is_unknown() {
  const auto let_fail = shim_fail();
  if (let_fail == nullptr) return check::skip("no call fails here");
  if (check::rank == writer) let_fail("MPI_Win_set_attr", 1);
  a_flag_in_own_memory(get_and_flush, false);
}

// The reader learns of a put by a load of its own memory, and reads what was put.
void put_is_read(Window& window) {
  if (check::rank == writer) {
    put_and_flush(window, 1000, place, owner);
    put_and_flush(window, 1, flag_place, reader);
  } else if (check::rank == reader) {
    int64_t found = -1;
    while (window.at(flag_place) == 0) usleep(10);
    get_and_flush(window, &found);
    EXPECT_EQ(found, 1000);
  }
  check::hidden_barrier();
}

// A rank that had no window when others had counts the same phases. The first case of all: later
// every rank has had one.
void a_writer_that_had_no_window() {
  MPI_Comm some;
  MPI_Comm_split(check::world, check::rank == writer ? MPI_UNDEFINED : 0, 0, &some);
  if (check::rank != writer) {
    int64_t* memory;
    MPI_Win win;
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, some, &memory, &win);
    for (int i = 0; i < 3; ++i) MPI_Barrier(check::world);
    MPI_Win_free(&win);
    MPI_Comm_free(&some);
  } else {
    for (int i = 0; i < 3; ++i) MPI_Barrier(check::world);
  }
  a_flag_in_own_memory(get_and_flush, false);
}

int meet(MPI_Comm comm, int, void*, void*) { return MPI_Barrier(comm); }

// A communicator of some ranks may have the handle that one of all ranks had: a barrier on it does
// not end a phase.
void put_after_barriers_of_some() {
  MPI_Comm some;
  MPI_Comm_split(check::world, check::rank == writer, 0, &some);
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    for (int i = 0; i < 3 && check::rank != writer; ++i) MPI_Barrier(some);
    int64_t found = -1;
    if (check::rank == reader) get_and_flush(window, &found);
    check::hidden_barrier();
    put_is_read(window);
  });
  MPI_Comm_free(&some);
}

// A communicator of all ranks is used until it is gone.
void a_barrier_while_a_communicator_is_freed() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm all;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, meet, &keyval, nullptr);
  MPI_Comm_dup(check::world, &all);
  MPI_Comm_set_attr(all, keyval, nullptr);
  MPI_Comm_free(&all);
  MPI_Comm_free_keyval(&keyval);
  put_after_barriers_of_some();
}

// A library frees it by a call that Nearcache does not see.
void a_communicator_is_freed_unseen() {
  MPI_Comm all;
  MPI_Comm_dup(check::world, &all);
  MPI_Barrier(all);
  HIDDEN(MPI_Comm_free)(&all);
  put_after_barriers_of_some();
}

// In the next phase the reader is notified again; between the two it keeps what it reads.
void two_phases() {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    for (int64_t phase = 1; phase <= 3; ++phase) {
      if (check::rank == writer) put_and_flush(window, 1000 * phase, place, owner);
      after(writer, reader);
      int64_t found = -1;
      if (check::rank == reader) {
        get_and_flush(window, &found);
        EXPECT_EQ(found, 1000 * phase);
        const uint64_t before = full_hits(window);
        get_and_flush(window, &found);
        EXPECT_CACHED(full_hits(window) == before);  // some rank wrote
      }
      MPI_Barrier(check::world);
      if (check::rank == reader) {
        get_and_flush(window, &found);
        const uint64_t before = full_hits(window);
        get_and_flush(window, &found);
        EXPECT_EQ(found, 1000 * phase);
        EXPECT_CACHED(full_hits(window) == before + (strict() ? 0 : 1));
      }
      check::hidden_barrier();
    }
  });
}

// The first window of these ranks, and the communicator that it was created on, are gone, and
// another communicator took its place: what Nearcache keeps for these ranks does not depend on it.
// The first case of all: later there have been other windows.
void the_first_communicator_is_gone() {
  const auto split = [](int key) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(check::world, 0, key, &comm);
    return comm;
  };
  MPI_Comm first = split(check::rank);
  with_window(
      true, [](Window& window) { settle(window, get_and_flush); }, first);
  MPI_Comm_free(&first);
  MPI_Comm reversed[3];
  for (MPI_Comm& comm : reversed) comm = split(-check::rank);
  MPI_Comm later = split(check::rank);
  for (int turn = 0; turn < 3; ++turn)
    with_window(
        true,
        [](Window& window) {
          settle(window, get_and_flush);
          if (check::rank == writer) put_and_flush(window, 1000, place, owner);
          after(writer, reader);
          int64_t found = 1000;
          if (check::rank == reader) get_and_flush(window, &found);
          EXPECT_EQ(found, 1000);
          check::hidden_barrier();
        },
        later);
  MPI_Comm_free(&later);
  for (MPI_Comm& comm : reversed) MPI_Comm_free(&comm);
}

// If some rank writes early in every phase, the reader asks not to be notified any more, and keeps
// nothing even in phases without writes. `freed`: in the first of these phases a window is freed
// that had hits before.
void phases_that_bring_nothing(bool freed) {
  const int64_t phases = freed ? 7 : 20, with_hits = 4;
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    for (int64_t phase = 1; phase <= phases; ++phase) {
      const auto noisy = [&] {
        MPI_Barrier(check::world);
        if (check::rank == writer) put_and_flush(window, 1000 * phase, place, owner);
      };
      if (!freed) {
        noisy();
        continue;
      }
      with_window(true, [&](Window& brief) {
        int64_t found = -1;
        if (check::rank == reader && phase <= with_hits) {
          for (int turn = 0; turn < 2; ++turn) get_and_flush(brief, &found);
        }
        noisy();
      });
    }
    MPI_Barrier(check::world);
    if (check::rank == reader) {
      int64_t found = -1;
      get_and_flush(window, &found);
      const uint64_t before = full_hits(window);
      get_and_flush(window, &found);
      EXPECT_EQ(found, 1000 * phases);
      EXPECT_CACHED(full_hits(window) ==
                    before + (strict() || asks_for_more_than_nothing() ? 0 : 1));
    }
    check::hidden_barrier();
  });
}

// A rank that shares windows with few ranks asks them after few repeats, long before it has seen
// 64.
void few_ranks_are_asked_soon() {
  with_window(true, [&](Window& window) {
    if (check::rank == reader) {
      bool served = false;
      for (int64_t word = 0; word < 30 && !served && check::cached() && !strict(); ++word) {
        int64_t found = -1;
        get_and_flush(window, &found, word);
        const uint64_t before = full_hits(window);
        get_and_flush(window, &found, word);
        EXPECT_EQ(found, word);
        served = full_hits(window) > before;
        usleep(10000);  // the others' answers are on their way
      }
      EXPECT_CACHED(served || strict());
    }
    check::hidden_barrier();
  });
}

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
  const auto let_fail = shim_fail();
  if (fails != nullptr && let_fail == nullptr) return check::skip("no call fails here");
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
        let_fail(fails, 1);
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
  if (shim_fail() == nullptr) return check::skip("no call fails here");
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    if (check::rank == reader) {
      int64_t word = 20, to = 0, from = 1;
      MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
      if (operation == flush_locked) get_locked(window, &to, 20);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      shim_fail()("MPI_Win_lock", 100);
      if (message_first) {
        MPI_Request request;
        MPI_Irecv(&to, 1, MPI_INT64_T, reader, 3, check::world, &request);
        MPI_Send(&from, 1, MPI_INT64_T, reader, 3, check::world);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(to, from);
      } else {
        EXPECT(operation(window, &word) != MPI_SUCCESS);
      }
      shim_fail()("MPI_Win_lock", 0);
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
  if (shim_fail() == nullptr) return check::skip("no call fails here");
  with_window(false, [&](Window& window) {
    settle(window, get_locked);
    int64_t two[2] = {-1, -1};
    if (check::rank == reader) {
      MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      shim_fail()("MPI_Get", 100);
      EXPECT(MPI_Get(two, 2, MPI_INT64_T, owner, place, 2, MPI_INT64_T, window.win) != MPI_SUCCESS);
      shim_fail()("MPI_Get", 0);
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

// Get and flush must see a change of a word that its owner stores to, and of the data that it
// guards.
void polled_by_get_and_flush() {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    after(reader, owner);
    if (check::rank == owner) {
      usleep(20000);
      window.memory[place] = 1000;
      std::atomic_thread_fence(std::memory_order_seq_cst);
      reinterpret_cast<volatile int64_t*>(window.memory)[flag_place] = 1;
    } else if (check::rank == reader) {
      int64_t flag = 0, found = -1;
      while (flag == 0) get_and_flush(window, &flag, flag_place);
      get_and_flush(window, &found);
      EXPECT_EQ(found, 1000);
    }
    check::hidden_barrier();
  });
}

// Run with a longest age of 2 s.
void nothing_is_older_than_the_longest_age() {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    if (check::rank == owner) {
      window.memory[place] = 1000;
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    check::hidden_barrier();
    if (check::rank == reader) {
      usleep(2500000);
      int64_t found = -1;
      for (int64_t word = 0; word < 32; ++word) get_and_flush(window, &found, word);
      get_and_flush(window, &found);
      EXPECT_EQ(found, 1000);
    }
    check::hidden_barrier();
  });
}

// Checks whether what was read before is still served after `call`, which the reader makes between
// two reads.
void keeps(
    bool kept, const std::function<void(Window&)>& call,
    const std::function<void(Window&)>& then = [](Window&) {}) {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    if (check::rank == reader) {
      int64_t found = -1;
      get_and_flush(window, &found);
      call(window);
      const uint64_t before = full_hits(window);
      get_and_flush(window, &found);
      EXPECT_EQ(found, place);
      EXPECT_CACHED(full_hits(window) - before == (kept && !strict() ? 1 : 0));
      then(window);
    }
    MPI_Barrier(check::world);
  });
}

// A window that is only written to for a while, or read only by its own rank, pauses, and its
// writes are not noted.
void puts_of_a_pause_are_seen(Read read, int target) {
  with_window(true, [&](Window& window) {
    settle(window, get_and_flush);
    if (check::rank == reader) {
      int64_t found = -1;
      for (int turn = 0; turn < 200; ++turn)
        target == reader ? get_and_flush(window, &found, 50, reader)
                         : put_and_flush(window, turn, 50, target);
      put_and_flush(window, 2000, place, owner);
      read(window, &found, place, owner);
      EXPECT_EQ(found, 2000);
      read(window, &found, other_place, owner);
      EXPECT_EQ(found, other_place);
    }
    MPI_Barrier(check::world);
  });
}

// Two windows over the same memory: what is put through one of them is read through the other.
void puts_by_another_window(Read read, const char* mode, int64_t puts) {
  with_window(true, [&](Window& window) {
    MPI_Win other;
    MPI_Info info = check::info("nearcache_mode", mode);
    MPI_Win_create(window.memory, words * 8, 8, info, check::world, &other);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, other);
    settle(window, read);
    if (check::rank == reader) {
      for (int64_t put = 1; put <= puts; ++put) {
        put_and_flush({other, nullptr}, 1000 + put, place, owner);
        if (put < 4 || put == puts) {
          int64_t found = -1;
          read(window, &found, place, owner);
          read(window, &found, place, owner);
          EXPECT_EQ(found, 1000 + put);
        }
      }
    }
    MPI_Barrier(check::world);
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
  });
}

// Memory of all ranks, in the order of ranks, that each of them has mapped. Null if there is none.
int64_t* map_for_all() {
  int64_t name = getpid();
  HIDDEN(MPI_Bcast)(&name, 1, MPI_INT64_T, 0, check::hidden_comm);
  const std::string path = "/dev/shm/nearcache_phases_" + std::to_string(name);
  const size_t bytes = check::ranks * words * 8;
  const int file = open(path.c_str(), O_CREAT | O_RDWR, 0600);
  void* memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  check::hidden_barrier();
  unlink(path.c_str());
  return memory == MAP_FAILED ? nullptr : static_cast<int64_t*>(memory);
}

// The owner's window has the writer's memory, which the reader changes by the writer's window: a
// shared window, or one of memory that ranks have mapped themselves.
void puts_by_the_window_of_another_rank(bool of_mpi) {
  int64_t* mine = nullptr;
  int64_t* theirs = nullptr;
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win shared;
  if (of_mpi) {
    MPI_Win_allocate_shared(words * 8, 8, MPI_INFO_NULL, check::world, &mine, &shared);
    MPI_Win_shared_query(shared, writer, &size, &unit, &theirs);
  } else {
    int64_t* const all = map_for_all();
    if (!EXPECT(all != nullptr)) return;
    mine = all + check::rank * words;
    theirs = all + writer * words;
    MPI_Win_create(mine, words * 8, 8, MPI_INFO_NULL, check::world, &shared);
  }
  for (int64_t word = 0; word < words; ++word) mine[word] = word;
  MPI_Barrier(check::world);
  const bool exposes = check::rank == owner;
  Window window{};
  MPI_Win_create(exposes ? theirs : nullptr, exposes ? words * 8 : 0, 8, MPI_INFO_NULL,
                 check::world, &window.win);
  MPI_Win_lock_all(0, window.win);
  MPI_Win_lock_all(0, shared);
  settle(window, get_and_flush);
  for (int64_t put = 1; put < 4 && check::rank == reader; ++put) {
    put_and_flush({shared, nullptr}, 1000 + put, place, writer);
    int64_t found = -1;
    get_and_flush(window, &found);
    EXPECT_EQ(found, 1000 + put);
  }
  MPI_Barrier(check::world);
  MPI_Win_unlock_all(shared);
  MPI_Win_unlock_all(window.win);
  MPI_Win_free(&window.win);
  MPI_Win_free(&shared);
}

void own_put(Window& window) { put_and_flush(window, 7, 50, writer); }
void own_rput(Window& window) {
  const int64_t value = 7;
  MPI_Request request;
  MPI_Rput(&value, 1, MPI_INT64_T, writer, 50, 1, MPI_INT64_T, window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
// An operation that completes at once may have the same request handle as a put, whose completion
// tells nothing.
void fetch_beside_a_put(bool put_first) {
  const int64_t value = 7;
  int64_t before;
  MPI_Request put, fetch;
  const auto begin_put = [&](const Window& window) {
    MPI_Rput(&value, 1, MPI_INT64_T, writer, 50, 1, MPI_INT64_T, window.win, &put);
  };
  keeps(
      false,
      [&](Window& window) {
        if (put_first) begin_put(window);
        MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &before, 1, MPI_INT64_T, writer, 51, 1,
                            MPI_INT64_T, MPI_SUM, window.win, &fetch);
        if (!put_first) begin_put(window);
        MPI_Wait(&fetch, MPI_STATUS_IGNORE);
      },
      [&](Window&) { MPI_Wait(&put, MPI_STATUS_IGNORE); });
}
void own_rank_rget(Window& window) {
  int64_t found;
  rget_and_wait(window, &found, 3, reader);
}
void several_rgets(Window& window) {
  int64_t found[3];
  MPI_Request requests[3];
  for (int i = 0; i < 3; ++i)
    MPI_Rget(&found[i], 1, MPI_INT64_T, i, 3, 1, MPI_INT64_T, window.win, &requests[i]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}
void own_fetch(Window& window) {
  const int64_t one = 1;
  int64_t before;
  MPI_Fetch_and_op(&one, &before, MPI_INT64_T, writer, 50, MPI_SUM, window.win);
  MPI_Win_flush(writer, window.win);
}
// Like the previous case, on a window of which nothing is cached: its calls go to MPI without being
// noted.
void fetch_of_a_pause(const std::function<void(MPI_Win)>& complete) {
  int64_t* memory;
  MPI_Win win;
  MPI_Info info = check::info("nearcache_mode", "off");
  MPI_Win_allocate(words * 8, 8, info, check::world, &memory, &win);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, win);
  keeps(false, [&](Window&) {
    const int64_t one = 1;
    int64_t before;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, writer, 50, MPI_SUM, win);
    complete(win);
  });
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

void a_message(Window&) {
  int to = 0, from = 1;
  MPI_Request request;
  MPI_Irecv(&to, 1, MPI_INT, reader, 3, check::world, &request);
  MPI_Send(&from, 1, MPI_INT, reader, 3, check::world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void rget_and_message(Window& window) {
  int to = 0, from = 1;
  int64_t found;
  MPI_Request requests[2];
  MPI_Irecv(&to, 1, MPI_INT, reader, 3, check::world, &requests[0]);
  MPI_Rget(&found, 1, MPI_INT64_T, reader, 3, 1, MPI_INT64_T, window.win, &requests[1]);
  MPI_Send(&from, 1, MPI_INT, reader, 3, check::world);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
void win_sync(Window& window) { MPI_Win_sync(window.win); }

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
        if (check::rank == writer) {
          after(reader, writer);
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
          usleep(300000);
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, writer, 0, second.win);
          MPI_Win_unlock(writer, second.win);
          MPI_Win_unlock(owner, window.win);
        }
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
        if (check::rank == writer) {
          after(reader, writer);
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
          usleep(300000);
          MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, other.win);
          MPI_Win_unlock(owner, other.win);
          MPI_Win_unlock(owner, window.win);
        }
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

int main(int argc, char** argv) {
  return check::run(
      argc, argv, 3,
      {{"writer_that_had_no_window", a_writer_that_had_no_window},
       // must run before any Rget is served, as the handle of those is known afterwards
       {"fetch_beside_an_earlier_put_acquires", [] { fetch_beside_a_put(true); }},
       {"fetch_beside_a_later_put_acquires", [] { fetch_beside_a_put(false); }},
       {"kept_across_flush", [] { kept_across(true, get_and_flush); }},
       {"kept_across_wait", [] { kept_across(true, rget_and_wait); }},
       {"kept_across_locks", [] { kept_across(false, get_locked); }},
       {"flag_put_into_own_memory", [] { a_flag_in_own_memory(get_and_flush, false); }},
       {"flag_put_into_own_memory_then_rget", [] { a_flag_in_own_memory(rget_and_wait, false); }},
       {"flag_accumulated_in_own_memory", [] { a_flag_in_own_memory(get_and_flush, true); }},
       {"writer_whose_window_is_unknown", a_writer_whose_window_is_unknown},
       {"barrier_while_a_communicator_is_freed", a_barrier_while_a_communicator_is_freed},
       {"communicator_freed_unseen", a_communicator_is_freed_unseen},
       {"two_phases", two_phases},
       {"the_first_communicator_is_gone", the_first_communicator_is_gone},
       {"phases_that_bring_nothing", [] { phases_that_bring_nothing(false); }},
       {"phases_that_bring_nothing_and_free_windows", [] { phases_that_bring_nothing(true); }},
       {"few_ranks_are_asked_soon", few_ranks_are_asked_soon},
       {"after_an_exclusive_epoch", [] { after_an_exclusive_epoch(false); }},
       {"after_a_store_under_an_exclusive_lock", [] { after_an_exclusive_epoch(true); }},
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
       {"polled_by_get_and_flush", polled_by_get_and_flush},
       {"nothing_is_older_than_the_longest_age", nothing_is_older_than_the_longest_age},
       {"put_after_many_puts", [] { puts_of_a_pause_are_seen(get_and_flush, writer); }},
       {"put_after_many_gets_of_the_own_rank",
        [] { puts_of_a_pause_are_seen(get_and_flush, reader); }},
       {"put_after_many_gets_of_the_own_rank_then_rget",
        [] { puts_of_a_pause_are_seen(rget_and_wait, reader); }},
       {"puts_by_another_window", [] { puts_by_another_window(get_and_flush, "coherent", 4); }},
       {"puts_by_another_window_then_rget",
        [] { puts_by_another_window(rget_and_wait, "transparent", 4); }},
       {"puts_by_another_window_that_pauses",
        [] { puts_by_another_window(get_and_flush, "transparent", 200); }},
       {"puts_by_another_window_that_is_off",
        [] { puts_by_another_window(get_and_flush, "off", 4); }},
       {"puts_by_a_shared_window", [] { puts_by_the_window_of_another_rank(true); }},
       {"puts_by_a_window_of_mapped_memory", [] { puts_by_the_window_of_another_rank(false); }},
       {"own_put_keeps", [] { keeps(true, own_put); }},
       {"own_rput_keeps", [] { keeps(true, own_rput); }},
       {"own_rank_rget_keeps", [] { keeps(true, own_rank_rget); }},
       {"several_rgets_keep", [] { keeps(true, several_rgets); }},
       {"own_fetch_acquires", [] { keeps(false, own_fetch); }},
       {"fetch_of_a_pause_acquires_by_flush",
        [] { fetch_of_a_pause([](MPI_Win win) { MPI_Win_flush(writer, win); }); }},
       {"fetch_of_a_pause_acquires_by_flush_all", [] { fetch_of_a_pause(MPI_Win_flush_all); }},
       {"message_acquires", [] { keeps(false, a_message); }},
       {"message_with_rget_acquires", [] { keeps(false, rget_and_message); }},
       {"win_sync_acquires", [] { keeps(false, win_sync); }},
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
