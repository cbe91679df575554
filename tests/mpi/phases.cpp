// Quiet phases (docs/semantics.md): what mode transparent keeps although gets complete, and what
// ends that. Run with NEARCACHE_QUIET_AFTER=0 and over shared memory: ranks wait for each other by
// loads, and by messages that Nearcache does not see.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "phases.h"

namespace phases {
namespace {

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
  if (!shimmed()) return check::skip("no call fails here");
  if (check::rank == writer) shim("shim_fail", "MPI_Win_set_attr", 1);
  a_flag_in_own_memory(get_and_flush, false);
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
        int64_t found = -1;
        read(window, &found, place, owner);
        read(window, &found, place, owner);
        EXPECT_EQ(found, 1000 + put);
      }
    }
    MPI_Barrier(check::world);
    MPI_Win_unlock_all(other);
    MPI_Win_free(&other);
  });
}

// A window that is not cached pauses again and again, and what passed in its pauses, of 4,096 gets,
// may be outstanding when it is cached.
void gets_of_an_earlier_pause() {
  with_window(true, [&](Window& window) {
    MPI_Win other;
    MPI_Info info = check::info("nearcache_mode", "off");
    MPI_Win_create(window.memory, words * 8, 8, info, check::world, &other);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, other);
    if (check::rank == reader) {
      const auto get = [&](std::vector<int64_t>* found, int target) {
        for (size_t i = 0; i < found->size(); ++i)
          MPI_Get(&(*found)[i], 1, MPI_INT64_T, target, static_cast<MPI_Aint>(i % words), 1,
                  MPI_INT64_T, other);
      };
      std::vector<int64_t> first(64, -1), of_the_pause(4096, -1), last(64, -1);
      get(&first, writer);
      get(&of_the_pause, owner);
      get(&last, writer);
      if (check::cached()) nearcache_set_mode(other, NEARCACHE_MODE_TRANSPARENT);
      MPI_Win_flush(owner, other);
      EXPECT_EQ(std::ranges::count(of_the_pause, -1), 0);
      MPI_Win_flush(writer, other);
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

// By fetches from one window the reader learns of the owner's stores to another one, which nobody
// tells of. The first pauses, as the reader has read only its own memory; the second keeps what it
// had, and pauses as well, even is used in turn with the first, goes on, or got its cache only
// later.
enum class Second : uint8_t { pauses, pauses_in_turn, goes_on, is_late };
void fetches_of_a_pause_beside_a_cache(Second second) {
  with_window(true, [&](Window& window) {
    Window other{};
    MPI_Win_allocate(words * 8, 8, MPI_INFO_NULL, check::world, &other.memory, &other.win);
    other.memory[flag_place] = 0;
    MPI_Win_lock_all(0, other.win);
    const auto fetch = [&] {
      const int64_t nothing = 0;
      int64_t found = -1;
      MPI_Fetch_and_op(&nothing, &found, MPI_INT64_T, owner, flag_place, MPI_NO_OP, other.win);
      MPI_Win_flush(owner, other.win);
      return found;
    };
    const auto pause = [&](const Window& each) {
      int64_t found;
      for (int turn = 0; turn < 200; ++turn) get_and_flush(each, &found, 50, reader);
    };
    const auto fetch_often = [&] {
      for (int turn = 0; turn < 10; ++turn) EXPECT_EQ(fetch(), 0);
    };
    if (second == Second::is_late && check::rank == reader) {
      pause(other);
      fetch_often();
    }
    settle(window, get_and_flush);
    int64_t found = -1;
    if (check::rank == reader) {
      if (second != Second::is_late) pause(other);
      fetch_often();
      get_and_flush(window, &found);  // what the fetches told of is over
      if (second == Second::pauses || second == Second::pauses_in_turn) pause(window);
      fetch_often();
      if (second == Second::pauses_in_turn) pause(window);
    }
    for (int64_t time = 1; time < 4; ++time) {
      after(reader, owner);
      if (check::rank == owner) {
        window.memory[place] = 1000 * time;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        other.memory[flag_place] = time;
      }
      after(owner, reader);
      if (check::rank == reader) {
        EXPECT_EQ(fetch(), time);
        for (int turn = 0; turn < 10; ++turn) get_and_flush(window, &found);
        EXPECT_EQ(found, 1000 * time);
      }
    }
    MPI_Barrier(check::world);
    MPI_Win_unlock_all(other.win);
    MPI_Win_free(&other.win);
  });
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

}  // namespace
}  // namespace phases

int main(int argc, char** argv) {
  using namespace phases;
  std::vector<check::Case> cases = {
      {"writer_that_had_no_window", a_writer_that_had_no_window},
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
      {"gets_of_an_earlier_pause", gets_of_an_earlier_pause},
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
      {"fetches_of_a_pause_beside_a_cache_that_pauses",
       [] { fetches_of_a_pause_beside_a_cache(Second::pauses); }},
      {"fetches_of_a_pause_beside_a_cache_in_turn",
       [] { fetches_of_a_pause_beside_a_cache(Second::pauses_in_turn); }},
      {"fetches_of_a_pause_beside_a_cache",
       [] { fetches_of_a_pause_beside_a_cache(Second::goes_on); }},
      {"fetches_of_a_pause_beside_a_late_cache",
       [] { fetches_of_a_pause_beside_a_cache(Second::is_late); }},
      {"message_acquires", [] { keeps(false, a_message); }},
      {"message_with_rget_acquires", [] { keeps(false, rget_and_message); }},
      {"win_sync_acquires", [] { keeps(false, win_sync); }}};
  add_lock_cases(cases);
  return check::run(argc, argv, 3, cases);
}
