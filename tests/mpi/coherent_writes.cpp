// Others write to the owner's memory: every call, every kind of epoch, and all ways by which the
// reader may learn of it.
#include "coherent.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>

namespace coherent {
namespace {

// A put, accumulate or similar call by the writer, complete at the owner.
using Write = void (*)(Window& window, int64_t value, int64_t before);

void put(Window& window, int64_t value, int64_t) {
  MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
  MPI_Win_flush(owner, window.win);
}
void put_and_flush_all(Window& window, int64_t value, int64_t) {
  MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
  MPI_Win_flush_all(window.win);
}
void rput(Window& window, int64_t value, int64_t) {
  MPI_Request request;
  MPI_Rput(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(owner, window.win);
}
void accumulate(Window& window, int64_t value, int64_t before) {
  const int64_t more = value - before;
  MPI_Accumulate(&more, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, MPI_SUM,
                 window.win);
  MPI_Win_flush(owner, window.win);
}
void raccumulate(Window& window, int64_t value, int64_t) {
  MPI_Request request;
  MPI_Raccumulate(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, MPI_REPLACE,
                  window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(owner, window.win);
}
void get_accumulate(Window& window, int64_t value, int64_t before) {
  int64_t found = -1;
  MPI_Get_accumulate(&value, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, owner, window.at(place), 1,
                     MPI_INT64_T, MPI_REPLACE, window.win);
  MPI_Win_flush(owner, window.win);
  EXPECT_EQ(found, before);
}
void rget_accumulate(Window& window, int64_t value, int64_t before) {
  int64_t found = -1;
  MPI_Request request;
  MPI_Rget_accumulate(&value, 1, MPI_INT64_T, &found, 1, MPI_INT64_T, owner, window.at(place), 1,
                      MPI_INT64_T, MPI_REPLACE, window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(owner, window.win);
  EXPECT_EQ(found, before);
}
void fetch_and_op(Window& window, int64_t value, int64_t before) {
  const int64_t more = value - before;
  int64_t found = -1;
  MPI_Fetch_and_op(&more, &found, MPI_INT64_T, owner, window.at(place), MPI_SUM, window.win);
  MPI_Win_flush(owner, window.win);
  EXPECT_EQ(found, before);
}
void compare_and_swap(Window& window, int64_t value, int64_t before) {
  int64_t found = -1;
  MPI_Compare_and_swap(&value, &before, &found, MPI_INT64_T, owner, window.at(place), window.win);
  MPI_Win_flush(owner, window.win);
  EXPECT_EQ(found, before);
}

Step by_writer(Write write) {
  return [write](Window& window) {
    const int64_t before = window.expected[place], value = window.next();
    if (check::rank == writer) write(window, value, before);
  };
}

// The owner changes its own memory by calls.
Step by_owner(Write write) {
  return [write](Window& window) {
    const int64_t before = window.expected[place], value = window.next();
    if (check::rank == owner) write(window, value, before);
  };
}

// The reader writes itself: no other rank's help is needed to see it.
Step by_reader(Write write) {
  return [write](Window& window) {
    const int64_t before = window.expected[place], value = window.next();
    if (check::rank == reader) write(window, value, before);
  };
}

void nothing(Window&) {}

// Every second word.
void put_of_a_vector(Window& window) {
  int64_t values[words / 2];
  for (int64_t word = 0; word < words; word += 2) values[word / 2] = window.next(word);
  if (check::rank != writer) return;
  MPI_Datatype every_second;
  MPI_Type_vector(words / 2, 1, 2 * spread, MPI_INT64_T, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Put(values, words / 2, MPI_INT64_T, owner, window.at(0), 1, every_second, window.win);
  MPI_Type_free(&every_second);
  MPI_Win_flush(owner, window.win);
}

// The reader keeps, and gets, parts of what others write, using a derived type at the target.
void gets_of_a_vector() {
  with_window({}, [](Window& window) {
    MPI_Datatype every_second;
    MPI_Type_vector(words / 2, 1, 2 * spread, MPI_INT64_T, &every_second);
    MPI_Type_commit(&every_second);
    for (int round = 0; round < 20; ++round) {
      if (round % 5 == 0) settle(window);
      if (round % 2 == 0) writer_puts(window);
      MPI_Barrier(check::world);
      if (round % 3 == 0) owner_stores(window);
      MPI_Barrier(check::world);
      if (check::rank == reader) {
        int64_t found[words / 2];
        MPI_Get(found, words / 2, MPI_INT64_T, owner, window.at(1), 1, every_second, window.win);
        MPI_Win_flush(owner, window.win);
        for (int64_t word = 1; word < words; word += 2)
          EXPECT_EQ(found[word / 2], window.expected[word]);
      }
      check::hidden_barrier();
    }
    MPI_Type_free(&every_second);
  });
}

void fence(Window& window) { MPI_Win_fence(0, window.win); }
void fence_with_asserts(Window& window) {
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE, window.win);
}

void put_in_pscw_epoch(Window& window) {
  const int64_t value = window.next();
  MPI_Group all, one;
  MPI_Win_get_group(window.win, &all);
  const int peer = check::rank == writer ? owner : writer;
  MPI_Group_incl(all, 1, &peer, &one);
  if (check::rank == owner) {
    MPI_Win_post(one, 0, window.win);
    MPI_Win_wait(window.win);
  } else if (check::rank == writer) {
    MPI_Win_start(one, 0, window.win);
    MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
    MPI_Win_complete(window.win);
  }
  MPI_Group_free(&one);
  MPI_Group_free(&all);
}

// A writer whose window pauses puts in an epoch of MPI_Win_start before anybody reads, and a get
// ends the pause before the epoch has ended: until a fence the put may be in flight, of which it
// tells those who read then.
void put_in_a_pscw_epoch_of_a_pause() {
  Wanted wanted;
  wanted.access = Access::locks;
  with_window(wanted, [](Window& window) {
    const int64_t value = window.next();
    int64_t found = -1;
    MPI_Group all, one;
    MPI_Win_get_group(window.win, &all);
    const int peer = check::rank == writer ? owner : writer;
    MPI_Group_incl(all, 1, &peer, &one);
    if (check::rank == writer) {
      MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
      for (int i = 0; i < 200; ++i)
        MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
      MPI_Win_unlock(owner, window.win);
      MPI_Win_start(one, 0, window.win);
      MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
      MPI_Get(&found, 1, MPI_INT64_T, owner, window.at(0), 1, MPI_INT64_T, window.win);
      MPI_Win_complete(window.win);
    } else if (check::rank == owner) {
      MPI_Win_post(one, 0, window.win);
      MPI_Win_wait(window.win);
    }
    MPI_Group_free(&one);
    MPI_Group_free(&all);
    const auto told = [&] { return check::stats(window.win).announcements; };
    bool done = !must_keep();
    for (int turn = 0; turn < 1000 && !done; ++turn) {
      MPI_Barrier(check::world);
      read_all(window);
      if (turn > 10) usleep(2000);
      int64_t left = told() > 0 ? 1 : 0;
      HIDDEN(MPI_Bcast)(&left, 1, MPI_INT64_T, writer, check::hidden_comm);
      done = left != 0;
    }
    EXPECT(done);
    for (const int asserts : std::initializer_list<int>{0, 0, MPI_MODE_NOSUCCEED})
      MPI_Win_fence(asserts, window.win);
    settle(window);
  });
}

void put_under_exclusive_lock(Window& window) {
  const int64_t value = window.next();
  if (check::rank != writer) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
  MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
  MPI_Win_unlock(owner, window.win);
}

void store_under_exclusive_lock(Window& window) {
  const int64_t value = window.next();
  if (check::rank != owner) return;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
  window.store(place, value);
  MPI_Win_unlock(owner, window.win);
}

// An exclusive lock that is held across a barrier: the reader's next epoch, which asks for so
// little that it need not be remembered as a whole, comes after the unlock.
void a_lock_held_across_a_barrier(int holder) {
  Wanted wanted;
  wanted.access = Access::locks;
  with_window(wanted, [holder](Window& window) {
    for (int round = 0; round < 3; ++round) {
      settle(window);
      const int64_t value = window.next();
      int64_t found = -1;
      const auto get = [&] {
        MPI_Get(&found, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
      };
      if (check::rank == holder) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
        get();
        MPI_Win_flush(owner, window.win);  // from here on it is held
      }
      MPI_Barrier(check::world);
      if (check::rank == holder) {
        usleep(50000);
        if (holder == owner) window.store(place, value);
        if (holder != owner)
          MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
        MPI_Win_unlock(owner, window.win);
      }
      if (check::rank == reader) {
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        get();
        MPI_Win_unlock(owner, window.win);
        EXPECT_EQ(found, value);
      }
      check::hidden_barrier();
    }
  });
}

void polling(const Window& window, int64_t* flag, int64_t value) {
  while (*static_cast<volatile int64_t*>(flag) != value) {
    HIDDEN(MPI_Win_flush_all)(window.win);  // progress only
    usleep(10);
  }
}

// The reader learns of the change by a word of its own memory, in this window or in another one.
void a_flag_in_own_memory(bool other_window) {
  with_window({}, [&](Window& window) {
    with_window({}, [&](Window& other) {
      Window& flags = other_window ? other : window;
      for (int round = 1; round <= 5; ++round) {
        settle(window);
        writer_puts(window);
        const int64_t flag = -round;
        if (check::rank == writer) {
          MPI_Put(&flag, 1, MPI_INT64_T, reader, flags.at(9, reader), 1, MPI_INT64_T, flags.win);
          MPI_Win_flush(reader, flags.win);
        }
        if (check::rank == reader) polling(window, flags.memory + 9 * spread, flag);
        read_all(window);
        check::hidden_barrier();
      }
    });
  });
}

// In a phase in which some rank has written, the reader gets a word and then learns, by a word of
// its own memory, that the next one is written. Its get of that one comes before the first is
// complete.
void neighbour_of_a_get_in_flight() {
  if (std::getenv("NEARCACHE_SKIP_CHEAP") == nullptr)
    return check::skip("gets may be too cheap for lines");
  Wanted wanted;
  wanted.bytes = 1 << 20;
  with_window(wanted, [](Window& window) {
    const auto put = [&](int64_t value, MPI_Aint at, int target) {
      MPI_Put(&value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, window.win);
      MPI_Win_flush(target, window.win);
    };
    const auto get = [&](int64_t* to, MPI_Aint at) {
      MPI_Get(to, 1, MPI_INT64_T, owner, at, 1, MPI_INT64_T, window.win);
    };
    const int64_t flag_of_phase = 1, flag_of_word = 2;
    int64_t found = -1;
    for (int64_t round = 1; round <= 3; ++round) {
      const MPI_Aint first = words * spread + 8192 * round, at = first + 4096 + 4;
      settle(window);
      for (MPI_Aint i = 0; i < 1024 && check::rank == reader; ++i) {  // has lines
        get(&found, first + i);
        MPI_Win_flush(owner, window.win);
      }
      check::hidden_barrier();
      if (check::rank == writer) put(round, flag_of_phase, reader);
      if (check::rank == reader) {
        polling(window, window.memory + flag_of_phase, round);
        get(&found, at);
      }
      check::hidden_barrier();
      if (check::rank == writer) {
        put(round, at + 1, owner);
        put(round, flag_of_word, reader);
      }
      if (check::rank == reader) {
        polling(window, window.memory + flag_of_word, round);
        get(&found, at + 1);
        MPI_Win_flush(owner, window.win);
        EXPECT_EQ(found, round);
      }
      check::hidden_barrier();
    }
  });
}

// Nobody notifies the reader: it polls by gets until the new value arrives, which must happen.
void polled_by_gets() {
  with_window({}, [](Window& window) {
    for (int round = 0; round < 3; ++round) {
      settle(window);
      writer_puts(window);
      if (check::rank == reader) {
        for (int64_t found = -1; found != window.expected[place];) {
          MPI_Get(&found, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
          MPI_Win_flush(owner, window.win);
        }
      }
      check::hidden_barrier();
    }
  });
}

// What a rank has put and flushed while the window paused is complete: readers keep their data even
// if it never makes another call for the window.
void flushed_in_a_pause(bool two_targets) {
  with_window({}, [two_targets](Window& window) {
    constexpr int puts = 300;  // a pause begins after 64
    const int64_t value = window.next();
    for (int i = 1; i <= puts && check::rank == writer; ++i) {
      const int64_t put = value - puts + i;
      const auto put_to = [&](int target) {
        MPI_Put(&put, 1, MPI_INT64_T, target, window.at(place, target), 1, MPI_INT64_T, window.win);
      };
      put_to(owner);
      if (two_targets) put_to(reader);
      two_targets ? MPI_Win_flush_all(window.win) : MPI_Win_flush(owner, window.win);
    }
    settle(window);
  });
}

// All ranks add to one counter under an exclusive lock; no update is lost.
void mutex_by_exclusive_locks() {
  constexpr int64_t turns = 100;
  Wanted wanted;
  wanted.access = Access::locks;
  with_window(wanted, [](Window& window) {
    settle(window);
    for (int64_t turn = 0; turn < turns; ++turn) {
      int64_t value = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
      MPI_Get(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
      MPI_Win_flush(owner, window.win);
      ++value;
      MPI_Put(&value, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
      MPI_Win_unlock(owner, window.win);
    }
    MPI_Barrier(check::world);
    window.expected[place] += turns * check::ranks;
    read_all(window);
    check::hidden_barrier();
    settle(window);
  });
}

// Every rank reads from all others, and each writes to them in turn; in some rounds nobody does.
void all_read_and_write() {
  with_window({}, [](Window& window) {
    std::vector<std::vector<int64_t>> expected(check::ranks);
    for (auto& its : expected) its = window.expected;
    for (int64_t round = 0; round < 60; ++round) {
      const int by = static_cast<int>(round % 5),
                to = static_cast<int>((round * 7 + 1) % check::ranks);
      const int64_t word = round * 11 % words, value = 1000 * round + word;
      if (by < check::ranks) {
        expected[to][word] = value;
        if (check::rank == by && to == by) window.store(word, value);
        if (check::rank == by && to != by) {
          MPI_Put(&value, 1, MPI_INT64_T, to, window.at(word, to), 1, MPI_INT64_T, window.win);
          MPI_Win_flush(to, window.win);
        }
      }
      MPI_Barrier(check::world);
      std::vector<int64_t> found(words);
      for (int target = 0; target < check::ranks; ++target) {
        if (target == check::rank) continue;
        for (int64_t i = 0; i < words; ++i)
          MPI_Get(&found[i], 1, MPI_INT64_T, target, window.at(i, target), 1, MPI_INT64_T,
                  window.win);
        MPI_Win_flush(target, window.win);
        for (int64_t i = 0; i < words; ++i) EXPECT_EQ(found[i], expected[target][i]);
      }
      MPI_Barrier(check::world);
    }
    window.expected = expected[owner];
    settle(window);
  });
}

// The owner's MPI lets accumulates wait for a call of the owner, but not gets and puts, and the
// owner makes none: the writer does not wait for its announcement. The reader keeps nothing then.
void an_owner_that_makes_no_calls() {
  const auto hold_sums = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "shim_hold_sums"));
  if (hold_sums == nullptr) return check::skip("accumulates are not held back here");
  with_window({}, [&](Window& window) {
    settle(window, true);
    if (check::rank == writer) hold_sums(1);
    for (int turn = 0; turn < 3; ++turn) {
      writer_puts(window);
      writer_sends(window);
      read_all(window);
      read_all(window);
      check::hidden_barrier();
    }
    const uint64_t before = kept(window);
    barrier(window);
    read_all(window);
    EXPECT_EQ(kept(window), before);
    if (check::rank == writer) hold_sums(0);
  });
}

}  // namespace

void add_writes(std::vector<check::Case>& cases) {
  const auto add = [&](const std::string& name, const Step& change, const Step& tell,
                       Access access = Access::lock_all) {
    Wanted wanted;
    wanted.access = access;
    cases.push_back({name, [=] { seen_after(wanted, change, tell); }});
  };
  const std::pair<const char*, Write> writes[] = {{"put", put},
                                                  {"put_and_flush_all", put_and_flush_all},
                                                  {"rput", rput},
                                                  {"accumulate", accumulate},
                                                  {"raccumulate", raccumulate},
                                                  {"get_accumulate", get_accumulate},
                                                  {"rget_accumulate", rget_accumulate},
                                                  {"fetch_and_op", fetch_and_op},
                                                  {"compare_and_swap", compare_and_swap}};
  for (const auto& [name, write] : writes) {
    add(std::string(name) + "_then_message", by_writer(write), writer_sends);
    add(std::string(name) + "_of_the_reader", by_reader(write), nothing);
  }
  add("put_then_barrier", by_writer(put), barrier);
  add("put_then_messages_by_the_owner", by_writer(put), writer_sends_owner_sends);
  add("put_of_the_owner", by_owner(put), owner_sends);
  add("fetch_and_op_of_the_owner", by_owner(fetch_and_op), owner_sends);
  add("put_of_the_reader_then_barrier", by_reader(put), barrier);
  add("put_of_a_vector", put_of_a_vector, writer_sends);
  cases.push_back({"gets_of_a_vector", gets_of_a_vector});
  add("put_in_a_fence_epoch", writer_puts, fence, Access::fence);
  add("put_in_a_fence_epoch_with_asserts", writer_puts, fence_with_asserts, Access::fence);
  add("put_in_a_pscw_epoch_then_barrier", put_in_pscw_epoch, barrier, Access::locks);
  add("put_in_a_pscw_epoch_then_message", put_in_pscw_epoch, owner_sends, Access::locks);
  cases.push_back({"put_in_a_pscw_epoch_of_a_pause", put_in_a_pscw_epoch_of_a_pause});
  add("put_under_an_exclusive_lock", put_under_exclusive_lock, writer_sends, Access::locks);
  add("put_under_an_exclusive_lock_then_barrier", put_under_exclusive_lock, barrier, Access::locks);
  add("store_under_an_exclusive_lock", store_under_exclusive_lock, owner_sends, Access::locks);
  cases.push_back(
      {"store_under_a_lock_held_across_a_barrier", [] { a_lock_held_across_a_barrier(owner); }});
  cases.push_back(
      {"put_under_a_lock_held_across_a_barrier", [] { a_lock_held_across_a_barrier(writer); }});
  cases.push_back({"flag_in_own_memory", [] { a_flag_in_own_memory(false); }});
  cases.push_back({"flag_in_own_memory_of_another_window", [] { a_flag_in_own_memory(true); }});
  cases.push_back({"neighbour_of_a_get_in_flight", neighbour_of_a_get_in_flight});
  cases.push_back({"polled_by_gets", polled_by_gets});
  cases.push_back({"an_owner_that_makes_no_calls", an_owner_that_makes_no_calls});
  cases.push_back({"flushed_in_a_pause", [] { flushed_in_a_pause(false); }});
  cases.push_back({"all_flushed_in_a_pause", [] { flushed_in_a_pause(true); }});
  cases.push_back({"mutex_by_exclusive_locks", mutex_by_exclusive_locks});
  cases.push_back({"all_read_and_write", all_read_and_write});
}

}  // namespace coherent
