// Windows that come and go, share memory or ranks, differ between ranks, or change their mode.
#include "coherent.h"

namespace coherent {
namespace {

void change_and_read(Window& window, int round) {
  round % 2 == 0 ? owner_stores(window) : writer_puts(window);
  round % 2 == 0 ? owner_sends(window) : writer_sends(window);
  read_all(window);
  check::hidden_barrier();
}

// Slots are used twice or more often; each window keeps something.
void made_and_freed() {
  uint64_t hits = 0;
  for (int turn = 0; turn < 70; ++turn) {
    with_window({}, [&](Window& window) {
      if (turn % 35 == 34) settle(window);
      for (int round = 0; round < 4; ++round) {
        MPI_Barrier(check::world);
        read_all(window);
        check::hidden_barrier();
      }
      change_and_read(window, turn);
      hits += kept(window);
    });
  }
  if (check::rank == reader && must_keep()) EXPECT(hits > 0);
}

// After some hundred releases without a get, the owner stops looking for stores; when a reader
// reads again, it keeps data again.
void a_reader_that_reads_no_more() {
  with_window({}, [&](Window& window) {
    settle(window);
    for (int i = 0; i < 400; ++i) MPI_Barrier(check::world);
    check::hidden_barrier();
    const uint64_t looks = check::stats(window.win).store_looks;
    for (int i = 0; i < 50; ++i) MPI_Barrier(check::world);
    if (check::rank == owner && check::cached())
      EXPECT_EQ(check::stats(window.win).store_looks, looks);
    change_and_read(window, 0);
    settle(window);
  });
}

// More windows than there are slots, all at once: the last ones keep nothing, and are still
// correct.
void many_windows(int left, const std::function<void(std::vector<Window*>&)>& body,
                  std::vector<Window*>* made) {
  if (left == 0) return body(*made);
  with_window({}, [&](Window& window) {
    made->push_back(&window);
    many_windows(left - 1, body, made);
    made->pop_back();
  });
}

void more_windows_than_slots() {
  std::vector<Window*> made;
  many_windows(
      40,
      [](std::vector<Window*>& windows) {
        settle(*windows[0]);
        for (int round = 0; round < 4; ++round) {
          for (Window* window : windows) change_and_read(*window, round);
          MPI_Barrier(check::world);
          for (Window* window : windows) read_all(*window);
          check::hidden_barrier();
        }
        settle(*windows[31]);
        settle(*windows[39], false);
      },
      &made);
  with_window({}, [](Window& window) { settle(window); });
}

// What a rank writes through one window is read through the other.
void two_windows_over_one_memory(const Step& change, const Step& tell) {
  std::vector<int64_t> memory(words * spread);
  Wanted wanted;
  wanted.allocate = false;
  wanted.memory = memory.data();
  with_window(wanted, [&](Window& first) {
    settle(first);
    with_window(wanted, [&](Window& second) {
      for (int round = 0; round < 3; ++round) {
        settle(second, false);
        change(first);
        second.expected = first.expected;
        tell(first);
        read_all(second);
        check::hidden_barrier();
        MPI_Barrier(check::world);
        read_all(first);
        check::hidden_barrier();
      }
      first.expected = second.expected;
    });
    change(first);
    tell(first);
    read_all(first);
    check::hidden_barrier();
  });
}

// The second communicator has the ranks in another order, so slots and words belong to other ranks.
void two_communicators() {
  MPI_Comm other;
  MPI_Comm_dup(check::world, &other);
  Wanted wanted;
  wanted.comm = other;
  with_window({}, [&](Window& first) {
    with_window(wanted, [&](Window& second) {
      settle(first);
      settle(second);
      for (int round = 0; round < 4; ++round) {
        change_and_read(first, round);
        change_and_read(second, round + 1);
      }
      settle(second);
      settle(first);
    });
  });
  MPI_Comm_free(&other);
}

// An additional window of two of the ranks.
void a_communicator_of_some() {
  MPI_Comm some;
  MPI_Comm_split(check::world, check::rank == writer ? MPI_UNDEFINED : 0, 0, &some);
  with_window({}, [&](Window& window) {
    settle(window);
    const auto both = [&] {
      for (int round = 0; round < 4; ++round) change_and_read(window, round);
      settle(window);
    };
    if (some == MPI_COMM_NULL) return both();
    Wanted wanted;
    wanted.comm = some;
    with_window(wanted, [&](Window& of_two) {
      both();
      for (int round = 0; round < 6; ++round) {
        if (round % 2 == 0) owner_stores(of_two);
        MPI_Barrier(some);
        read_all(of_two);
        MPI_Barrier(some);
      }
    });
  });
  if (some != MPI_COMM_NULL) MPI_Comm_free(&some);
}

// Only one rank's mode is coherent.
void one_rank_of_mode_coherent(int who) {
  Wanted wanted;
  wanted.mode = check::rank == who ? "coherent" : "transparent";
  with_window(wanted, [&](Window& window) {
    for (int round = 0; round < 4; ++round) {
      settle(window, who == reader);
      change_and_read(window, round);
    }
  });
}

// What was kept in an earlier mode is not served in a later one.
void mode_changes(const Step& to_transparent, const Step& to_coherent) {
  with_window({}, [&](Window& window) {
    settle(window);
    for (int round = 0; round < 4; ++round) {
      to_transparent(window);
      change_and_read(window, round);
      const uint64_t before = kept(window);
      MPI_Barrier(check::world);
      read_all(window);
      if (check::rank == reader) EXPECT_CACHED(kept(window) == before);
      check::hidden_barrier();
      to_coherent(window);
      change_and_read(window, round + 1);
      settle(window);
    }
  });
}

Step set_info(const char* mode) {
  return [mode](Window& window) {
    MPI_Info info = check::info("nearcache_mode", mode);
    MPI_Win_set_info(window.win, info);
    MPI_Info_free(&info);
  };
}

Step set_mode(nearcache_mode mode) {
  return [mode](Window& window) {
    if (check::cached()) nearcache_set_mode(window.win, mode);
  };
}

// Only for a window of this mode does the reader ask to be told of writes. It leaves that mode
// under a shared lock of another window, is told nothing of an exclusive epoch, and asks again. Its
// shared epoch sees all of the exclusive one, or nothing.
void told_of_nothing_under_a_lock() {
  if (!must_keep()) return check::skip("locks are not deferred here");
  constexpr int64_t other_place = 40;
  Wanted of_locks;
  of_locks.mode = "transparent";
  of_locks.access = Access::locks;
  with_window({}, [&](Window& asking) {
    with_window(of_locks, [&](Window& window) {
      const auto get = [&](int64_t* to, int64_t word) {
        MPI_Get(to, 1, MPI_INT64_T, owner, window.at(word), 1, MPI_INT64_T, window.win);
      };
      const auto hits = [](const Window& of) { return check::stats(of.win).hits_full; };
      int64_t first = -1, then = -1, waits = 0;
      settle(asking);
      for (int turn = 0; turn < 100 && check::rank == reader && hits(window) == 0; ++turn) {
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        get(&first, place);
        MPI_Win_unlock(owner, window.win);
      }
      if (check::rank == reader) {
        const auto passed = check::stats(window.win).syncs_passed;
        MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
        get(&first, place);
        waits = check::stats(window.win).syncs_passed == passed;
        nearcache_set_mode(asking.win, NEARCACHE_MODE_TRANSPARENT);
      }
      waits = all_learn(waits);  // else the writer waits for the lock
      usleep(20000);
      const int64_t values[2] = {window.next(), window.next(other_place)};
      if (check::rank == writer && waits != 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, window.win);
        MPI_Put(&values[0], 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
        MPI_Put(&values[1], 1, MPI_INT64_T, owner, window.at(other_place), 1, MPI_INT64_T,
                window.win);
        MPI_Win_unlock(owner, window.win);
      }
      check::hidden_barrier();
      if (check::rank == reader) {
        const auto before = hits(asking);  // none, if it was told after all
        for (int turn = 0; turn < 1000 && hits(asking) == before; ++turn) {
          int64_t found = -1;
          MPI_Get(&found, 1, MPI_INT64_T, owner, asking.at(place), 1, MPI_INT64_T, asking.win);
          MPI_Win_flush(owner, asking.win);
        }
        get(&then, other_place);
        MPI_Win_unlock(owner, window.win);
        EXPECT_EQ(first == place, then == other_place);
      }
      check::hidden_barrier();
    });
  });
}

// The window began in another mode: it has no words, so nothing is kept across acquires.
void became_coherent() {
  Wanted wanted;
  wanted.mode = "transparent";
  with_window(wanted, [](Window& window) {
    settle(window, false);
    set_info("coherent")(window);
    for (int round = 0; round < 4; ++round) {
      settle(window, false);
      change_and_read(window, round);
    }
  });
}

// An invalidation drops what is kept, so that even a store without a release is seen.
void invalidated() {
  with_window({}, [](Window& window) {
    for (int round = 0; round < 3; ++round) {
      settle(window);
      owner_stores(window);
      check::hidden_barrier();
      if (check::rank == reader && check::cached()) nearcache_invalidate(window.win);
      read_all(window);
      check::hidden_barrier();
    }
  });
}

// Ranks without memory, and with other displacement units. A change anywhere in the owner's memory
// then counts as a change of everything read from it, so that memory must not share pages with
// anything else, as small allocations from MPI's heap do.
void different_memories(int64_t of_reader, int64_t of_writer) {
  constexpr int64_t of_owner = 100000;
  Wanted wanted;
  const int64_t counts[3] = {of_reader, of_owner, of_writer};
  const int units[3] = {1, 4, 8};
  wanted.bytes = counts[check::rank] * 8;
  wanted.unit = units[check::rank];
  with_window(wanted, [](Window& window) {
    for (int round = 0; round < 4; ++round) {
      settle(window);
      change_and_read(window, round);
    }
  });
}

}  // namespace

void add_windows(std::vector<check::Case>& cases) {
  cases.push_back({"made_and_freed", made_and_freed});
  cases.push_back({"a_reader_that_reads_no_more", a_reader_that_reads_no_more});
  cases.push_back({"more_windows_than_slots", more_windows_than_slots});
  cases.push_back({"stored_where_another_window_is",
                   [] { two_windows_over_one_memory(owner_stores, owner_sends); }});
  cases.push_back({"put_through_another_window",
                   [] { two_windows_over_one_memory(writer_puts, writer_sends); }});
  cases.push_back({"two_communicators", two_communicators});
  cases.push_back({"a_communicator_of_some", a_communicator_of_some});
  cases.push_back({"only_the_reader_is_coherent", [] { one_rank_of_mode_coherent(reader); }});
  cases.push_back({"only_the_owner_is_coherent", [] { one_rank_of_mode_coherent(owner); }});
  cases.push_back({"mode_changes_by_info",
                   [] { mode_changes(set_info("transparent"), set_info("coherent")); }});
  cases.push_back({"mode_changes_by_call", [] {
                     mode_changes(set_mode(NEARCACHE_MODE_TRANSPARENT),
                                  set_mode(NEARCACHE_MODE_COHERENT));
                   }});
  cases.push_back({"told_of_nothing_under_a_lock", told_of_nothing_under_a_lock});
  cases.push_back({"became_coherent", became_coherent});
  cases.push_back({"invalidated", invalidated});
  cases.push_back({"no_memory_at_the_writer", [] { different_memories(words * spread, 0); }});
  cases.push_back({"no_memory_at_the_reader", [] { different_memories(0, 16); }});
  cases.push_back({"different_memories", [] { different_memories(7, 1000); }});
}

}  // namespace coherent
