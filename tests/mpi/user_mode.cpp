// Mode user set by the environment: the behaviour of windows that specify no mode, before and after
// the program invalidates. Run with NEARCACHE_MODE=user.
#include <cstdint>

#include "check.h"

namespace {

// A window whose owner stores to it between barriers; rank 0 reads the memory of rank 1.
class Stored {
 public:
  explicit Stored(MPI_Info info = MPI_INFO_NULL) {
    MPI_Win_allocate(16 * sizeof(int64_t), sizeof(int64_t), info, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    store(0);
  }
  ~Stored() {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
  void store(int64_t value) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 16; i++) {
      memory[i] = value;
    }
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  int64_t read() const {
    int64_t value = -1;
    MPI_Get(&value, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
    return value;
  }
  nearcache_mode mode() const {
    nearcache_mode found = NEARCACHE_MODE_OFF;
    nearcache_get_mode(win, &found);
    return found;
  }

  int64_t* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

bool reads() { return check::rank == 0; }

// Reads after a store, and again after a barrier: served from the cache in mode user.
void served_over_a_barrier(Stored& window, bool wanted) {
  int64_t seen = reads() ? window.read() : 0;
  const nearcache_stats before = check::stats(window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  seen -= reads() ? window.read() : 0;
  check::expect(seen == 0, "a value that nobody wrote");
  const bool hit = check::stats(window.win).hits_full > before.hits_full;
  if (reads()) {
    check::expect(hit == wanted, "%s from the cache", hit ? "served" : "not served");
  }
}

void what_others_store_is_seen_by_a_program_that_never_invalidates() {
  Stored window;
  for (int64_t round = 1; round < 5; round++) {
    if (reads()) {
      window.read();
    }
    window.store(round);
    if (reads()) {
      check::expect(window.read() == round, "a value of before the store");
    }
  }
  check::expect(window.mode() == NEARCACHE_MODE_TRANSPARENT, "mode %d", window.mode());
  served_over_a_barrier(window, false);
}

void a_window_that_names_the_mode_has_it_at_once() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nearcache_mode", "user");
  Stored created(info), set, informed;
  nearcache_set_mode(set.win, NEARCACHE_MODE_USER);
  MPI_Win_set_info(informed.win, info);
  MPI_Info_free(&info);
  for (Stored* window : {&created, &set, &informed}) {
    check::expect(window->mode() == NEARCACHE_MODE_USER, "mode %d", window->mode());
    served_over_a_barrier(*window, true);
  }
}

void the_first_invalidation_of_any_window_begins_it_for_all() {
  Stored one, other, named;
  nearcache_set_mode(named.win, NEARCACHE_MODE_TRANSPARENT);
  check::expect(nearcache_invalidate(one.win) == MPI_SUCCESS, "nearcache_invalidate");
  Stored later;
  for (Stored* window : {&one, &other, &later}) {
    check::expect(window->mode() == NEARCACHE_MODE_USER, "mode %d", window->mode());
    served_over_a_barrier(*window, true);
    window->store(7);
    nearcache_invalidate(window->win);
    if (reads()) {
      check::expect(window->read() == 7, "a value of before the invalidation");
    }
  }
  check::expect(named.mode() == NEARCACHE_MODE_TRANSPARENT,
                "a mode that the program named is another one");
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 2,
                    {{"never", what_others_store_is_seen_by_a_program_that_never_invalidates},
                     {"named", a_window_that_names_the_mode_has_it_at_once},
                     {"first", the_first_invalidation_of_any_window_begins_it_for_all}});
}
