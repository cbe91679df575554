// Shared by the cases of phases.cpp: a window of words, ways to read them, and how phases become
// quiet.
#ifndef NEARCACHE_TESTS_PHASES_H
#define NEARCACHE_TESTS_PHASES_H

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "check.h"
#include "shim.h"

namespace phases {

constexpr int64_t words = 64, place = 5, other_place = 40, flag_place = 60;
constexpr int reader = 0, owner = 1, writer = 2;

struct Window {
  MPI_Win win;
  int64_t* memory;
  int64_t at(int64_t word) const { return reinterpret_cast<const volatile int64_t*>(memory)[word]; }
};

inline bool strict() { return std::getenv("NEARCACHE_STRICT_FLUSH") != nullptr; }
inline bool asks_for_more_than_nothing() {
  return std::strcmp(std::getenv("NEARCACHE_QUIET_AFTER"), "0") != 0;
}

// Rank `to` waits until rank `from` gets here, by a message that Nearcache does not see.
inline void after(int from, int to) {
  int token = 0;
  if (check::rank == from) HIDDEN(MPI_Send)(&token, 1, MPI_INT, to, 77, check::hidden_comm);
  if (check::rank != to) return;
  MPI_Request request;
  HIDDEN(MPI_Irecv)(&token, 1, MPI_INT, from, 77, check::hidden_comm, &request);
  for (int done = 0; HIDDEN(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    usleep(20);
}

inline void get(const Window& window, int64_t* to, int64_t word = place, int target = owner) {
  MPI_Get(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
}
inline void get_and_flush(const Window& window, int64_t* to, int64_t word = place,
                          int target = owner) {
  get(window, to, word, target);
  MPI_Win_flush(target, window.win);
}
inline void get_locked(const Window& window, int64_t* to, int64_t word = place,
                       int target = owner) {
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
  get(window, to, word, target);
  MPI_Win_unlock(target, window.win);
}
inline void rget_and_wait(const Window& window, int64_t* to, int64_t word = place,
                          int target = owner) {
  MPI_Request request;
  MPI_Rget(to, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

using Read = void (*)(const Window&, int64_t*, int64_t, int);

inline uint64_t full_hits(const Window& window) { return check::stats(window.win).hits_full; }

// Reads until the reader is in a quiet phase, for which others must know that it reads.
inline void settle(const Window& window, Read read) {
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

inline void with_window(bool lock_all, const std::function<void(Window&)>& body,
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

inline void put_and_flush(const Window& window, int64_t value, int64_t word, int target) {
  MPI_Put(&value, 1, MPI_INT64_T, target, word, 1, MPI_INT64_T, window.win);
  MPI_Win_flush(target, window.win);
}

// The reader learns of a put by a load of its own memory, and reads what was put.
inline void put_is_read(Window& window) {
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

void add_lock_cases(std::vector<check::Case>& cases);

}  // namespace phases

#endif
