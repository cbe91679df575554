// Rows for the origin's own writes: in modes `always` and `user`, data that a put or an accumulate
// overlaps must be fetched again, and other data stay cached. Also rows for the modes themselves.
#include "semantics.h"

namespace semantics {
namespace {

struct Write {
  const char* name;
  // Changes the word at `place` from `from` to `to`.
  std::function<void(Window&, const int64_t& to, const int64_t& from)> call;
};

int64_t fetched;

void wait(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

int64_t difference;

const std::vector<Write> writes = {
    {"put",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Put(&to, 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, w.win);
     }},
    {"rput",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Request request;
       MPI_Rput(&to, 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, w.win, &request);
       wait(&request);
     }},
    {"accumulate",
     [](Window& w, const int64_t& to, const int64_t& from) {
       difference = to - from;
       MPI_Accumulate(&difference, 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, MPI_SUM, w.win);
     }},
    {"raccumulate",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Request request;
       MPI_Raccumulate(&to, 1, MPI_INT64_T, target, place, 1, MPI_INT64_T, MPI_REPLACE, w.win,
                       &request);
       wait(&request);
     }},
    {"get_accumulate",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Get_accumulate(&to, 1, MPI_INT64_T, &fetched, 1, MPI_INT64_T, target, place, 1,
                          MPI_INT64_T, MPI_REPLACE, w.win);
     }},
    {"rget_accumulate",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Request request;
       MPI_Rget_accumulate(&to, 1, MPI_INT64_T, &fetched, 1, MPI_INT64_T, target, place, 1,
                           MPI_INT64_T, MPI_REPLACE, w.win, &request);
       wait(&request);
     }},
    {"fetch_and_op",
     [](Window& w, const int64_t& to, const int64_t&) {
       MPI_Fetch_and_op(&to, &fetched, MPI_INT64_T, target, place, MPI_REPLACE, w.win);
     }},
    {"compare_and_swap",
     [](Window& w, const int64_t& to, const int64_t& from) {
       MPI_Compare_and_swap(&to, &from, &fetched, MPI_INT64_T, target, place, w.win);
     }},
    {"put_wider",
     [](Window& w, const int64_t& to, const int64_t&) {
       const int64_t three[3] = {value(w.version, place - 1), to, value(w.version, place + 1)};
       MPI_Put(three, 3, MPI_INT64_T, target, place - 1, 3, MPI_INT64_T, w.win);
       MPI_Win_flush(target, w.win);
     }},
    {"put_one_byte",
     [](Window& w, const int64_t& to, const int64_t&) {
       const char low = (char)(to & 0xff);  // from and to differ in their lowest byte only
       MPI_Datatype word;
       const MPI_Aint at = place * 8;  // displaced by the datatype instead of the displacement
       const int one = 1;
       MPI_Type_create_hindexed(1, &one, &at, MPI_BYTE, &word);
       MPI_Type_commit(&word);
       MPI_Put(&low, 1, MPI_BYTE, target, 0, 1, word, w.win);
       MPI_Type_free(&word);
       MPI_Win_flush(target, w.win);
     }},
};

int64_t read(Window& window, int64_t word) {
  int64_t got = -1;
  get(window, &got, word);
  MPI_Win_flush(target, window.win);
  return got;
}

void run_write(const Write& write, const char* mode) {
  with_window(false, mode, [&](Window& window) {
    neighbours_read(window);
    if (!origin()) {
      return;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
    const int64_t from = value(window.version, place), to = from ^ 1;
    EXPECT_EQ(read(window, place), from);
    EXPECT_EQ(read(window, far_place), value(window.version, far_place));
    const auto hits = ADDED(window.win, hits_full, EXPECT_EQ(read(window, place), from));
    EXPECT_CACHED(hits == 1);
    write.call(window, to, from);
    MPI_Win_flush(target, window.win);
    EXPECT_EQ(read(window, place), to);
    EXPECT_EQ(read(window, place), to);
    const auto kept = ADDED(window.win, hits_full,
                            EXPECT_EQ(read(window, far_place), value(window.version, far_place)));
    EXPECT_CACHED(kept == 1);
    MPI_Win_unlock(target, window.win);
  });
}

// A get that overlaps an own write not known to be complete may return either value; the next get
// must be fetched.
void run_get_over_write_under_way(const Write& write, const char* mode) {
  with_window(false, mode, [&](Window& window) {
    neighbours_read(window);
    if (!origin()) {
      return;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
    const int64_t from = value(window.version, place), to = from ^ 1;
    // creates the cache, so that the write is noted
    EXPECT_EQ(read(window, far_place), value(window.version, far_place));
    write.call(window, to, from);
    int64_t either = -1;
    get(window, &either);
    MPI_Win_flush(target, window.win);
    const auto hits = ADDED(window.win, hits_full, EXPECT_EQ(read(window, place), to));
    EXPECT_CACHED(hits == 0);
    EXPECT_EQ(read(window, place), to);
    MPI_Win_unlock(target, window.win);
  });
}

// Within an epoch, a get that a flush orders after an own write must see it.
void run_write_transparent(const Write& write) {
  with_window(false, "transparent", [&](Window& window) {
    neighbours_read(window);
    if (!origin()) {
      return;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
    const int64_t from = value(window.version, place), to = from ^ 1;
    EXPECT_EQ(read(window, place), from);
    write.call(window, to, from);
    MPI_Win_flush(target, window.win);
    EXPECT_EQ(read(window, place), to);
    MPI_Win_unlock(target, window.win);
  });
}

// The promise of `mode` makes repeats full hits across epochs.
void repeats_are_full_hits(const char* mode) {
  with_window(true, mode, [](Window& window) {
    if (check::rank == 0) {
      for (int turn = 0; turn < 4; turn++) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
        const auto hits = ADDED(window.win, hits_full,
                                EXPECT_EQ(read(window, place), value(window.version, place)));
        MPI_Win_unlock(target, window.win);
        EXPECT_CACHED(hits == (turn > 0));
      }
    }
  });
}

void user_until_invalidate(int (*invalidate)(MPI_Win)) {
  if (!check::cached()) {
    return check::skip("without Nearcache there is nothing to invalidate");
  }
  with_window(false, "user", [&](Window& window) {
    for (int turn = 0; turn < 3; turn++) {
      if (check::rank == 0) {
        MPI_Win_lock_all(0, window.win);
        EXPECT_EQ(read(window, place), value(window.version, place));
        EXPECT_EQ(ADDED(window.win, hits_full,
                        EXPECT_EQ(read(window, place), value(window.version, place))),
                  1);
        MPI_Win_unlock_all(window.win);
      }
      neighbours_read(window);
      change(window);
      if (check::rank == 0) {
        EXPECT_EQ(invalidate(window.win), MPI_SUCCESS);
      }
    }
  });
}

void invalidate_with_get_under_way() {
  if (!check::cached()) {
    return check::skip("without Nearcache there is nothing to invalidate");
  }
  with_window(false, "user", [&](Window& window) {
    int64_t first = -1, second = -1;
    if (check::rank == 0) {
      MPI_Win_lock_all(0, window.win);
      get(window, &first);
    }
    neighbours_read(window);
    change(window);
    if (check::rank == 0) {
      nearcache_invalidate(window.win);
      get(window, &second);
      MPI_Win_flush(target, window.win);
      EXPECT_EQ(second, value(window.version, place));
      EXPECT_EQ(read(window, place), value(window.version, place));
      MPI_Win_unlock_all(window.win);
    }
  });
}

// A window freed and created again over the same memory starts empty.
void win_free_and_create() {
  static int64_t memory[words];
  for (int64_t turn = 0; turn < 4; turn++) {
    for (int64_t& word : memory) {
      word = turn;
    }
    MPI_Info info = check::info("nearcache_mode", "always");
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, 8, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    if (origin()) {
      Window window{win, memory, turn, false, true};
      MPI_Win_lock_all(0, win);
      EXPECT_EQ(read(window, place), turn);
      EXPECT_CACHED(ADDED(win, hits_full, EXPECT_EQ(read(window, place), turn)) == 1);
      MPI_Win_unlock_all(win);
    }
    MPI_Win_free(&win);
  }
}

void set_info_switches_mode() {
  with_window(false, "always", [](Window& window) {
    const char* modes[] = {"transparent", "always", "off", "user", "transparent"};
    for (const char* mode : modes) {
      if (check::rank == 0) {
        MPI_Win_lock_all(0, window.win);
        read(window, place);
        MPI_Win_unlock_all(window.win);
      }
      neighbours_read(window);
      change(window);  // switching the mode ends earlier promises
      MPI_Info info = check::info("nearcache_mode", mode);
      MPI_Win_set_info(window.win, info);
      MPI_Info_free(&info);
      if (check::rank == 0) {
        MPI_Win_lock_all(0, window.win);
        EXPECT_EQ(read(window, place), value(window.version, place));
        const auto hits = ADDED(window.win, hits_full,
                                EXPECT_EQ(read(window, place), value(window.version, place)));
        if (strict_flush() || strcmp(mode, "transparent") != 0)
          EXPECT_CACHED(hits == (strcmp(mode, "always") == 0 || strcmp(mode, "user") == 0));
        MPI_Win_unlock_all(window.win);
      }
      check::hidden_barrier();
    }
  });
}

void clampi_modes_by_name_and_number() {
  const struct {
    const char* value;
    nearcache_mode mode;
  } rows[] = {{"CLAMPI_TRANSPARENT", NEARCACHE_MODE_TRANSPARENT},
              {"CLAMPI_ALWAYS_CACHE", NEARCACHE_MODE_ALWAYS},
              {"CLAMPI_USER_DEFINED", NEARCACHE_MODE_USER},
              {"1", NEARCACHE_MODE_TRANSPARENT},
              {"2", NEARCACHE_MODE_ALWAYS},
              {"3", NEARCACHE_MODE_USER}};
  for (const auto& row : rows) {
    MPI_Info info = check::info("CLAMPI_MODE", row.value);
    int64_t* memory;
    MPI_Win win;
    MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &memory, &win);
    MPI_Info_free(&info);
    nearcache_mode mode = NEARCACHE_MODE_OFF;
    EXPECT_CACHED(nearcache_get_mode(win, &mode) == MPI_SUCCESS && mode == row.mode);
    MPI_Win_free(&win);
  }
}

void clampi_info_key() {
  MPI_Info info = check::info("CLAMPI_MODE", "CLAMPI_ALWAYS_CACHE");
  int64_t* memory;
  MPI_Win win;
  MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &memory, &win);
  MPI_Info_free(&info);
  memory[place] = 42;
  check::hidden_barrier();
  if (check::rank == 0) {
    Window window{win, memory, 0, true, true};
    MPI_Win_lock_all(0, win);
    EXPECT_EQ(read(window, place), 42);
    EXPECT_CACHED(ADDED(win, hits_full, EXPECT_EQ(read(window, place), 42)) == 1);
    MPI_Win_unlock_all(win);
  }
  check::hidden_barrier();
  MPI_Win_free(&win);
}

}  // namespace

void add_write_rows(std::vector<check::Case>& cases) {
  for (const Write& write : writes) {
    cases.push_back(
        {std::string("always_own_") + write.name, [&write] { run_write(write, "always"); }});
    cases.push_back(
        {std::string("user_own_") + write.name, [&write] { run_write(write, "user"); }});
    cases.push_back(
        {std::string("transparent_own_") + write.name, [&write] { run_write_transparent(write); }});
  }
  for (const char* name : {"put", "accumulate", "fetch_and_op"}) {
    for (const Write& write : writes) {
      if (strcmp(write.name, name) == 0) {
        cases.push_back({std::string("always_get_over_own_") + name + "_under_way",
                         [&write] { run_get_over_write_under_way(write, "always"); }});
        cases.push_back({std::string("user_get_over_own_") + name + "_under_way",
                         [&write] { run_get_over_write_under_way(write, "user"); }});
      }
    }
  }
}

void add_mode_rows(std::vector<check::Case>& cases) {
  cases.push_back({"always_repeats_are_full_hits", [] { repeats_are_full_hits("always"); }});
  cases.push_back({"user_repeats_are_full_hits", [] { repeats_are_full_hits("user"); }});
  cases.push_back(
      {"user_until_nearcache_invalidate", [] { user_until_invalidate(nearcache_invalidate); }});
  cases.push_back(
      {"user_until_clampi_invalidate", [] { user_until_invalidate(CLAMPI_Invalidate); }});
  cases.push_back({"invalidate_with_get_under_way", invalidate_with_get_under_way});
  cases.push_back({"win_free_and_create", win_free_and_create});
  cases.push_back({"set_info_switches_mode", set_info_switches_mode});
  cases.push_back({"clampi_info_key", clampi_info_key});
  cases.push_back({"clampi_modes_by_name_and_number", clampi_modes_by_name_and_number});
}

}  // namespace semantics
