// One row for every call of the semantics table (docs/semantics): rank 1 changes its window between
// two gets of rank 0, and the second get must see the change. There are three kinds of row, by the
// position of the call:
//
//   complete  get; CALL completes it; change; get          CALL must drop what the epoch cached
//   learn     get; (change); CALL tells of it; get; flush  the second get must not be served from
//             the first one
//   write     always/user mode: get; own CALL writes; get  the written bytes must be fetched again
//
// Each row also repeats its gets and checks the counters, so that none passes merely because
// nothing is cached. Ranks meet by check::hidden_barrier, which Nearcache does not see.
//
// Further ranks are neighbours (semantics.h), whose caches rank 0 may share.
#include "semantics.h"

#include <atomic>
#include <map>

namespace semantics {

namespace {

// Hits on data that other ranks fetched, by the mode of the window.
std::map<std::string, uint64_t> served_by_others;

void make(Window& window, bool allocate, const char* mode) {
  MPI_Info info = check::info("nearcache_mode", mode);
  const MPI_Aint bytes = words * (MPI_Aint)sizeof(int64_t);
  if (allocate) {
    MPI_Win_allocate(bytes, 8, info, MPI_COMM_WORLD, &window.memory, &window.win);
  } else {
    MPI_Alloc_mem(bytes, MPI_INFO_NULL, &window.memory);
    MPI_Win_create(window.memory, bytes, 8, info, MPI_COMM_WORLD, &window.win);
  }
  MPI_Info_free(&info);
  window.allocated = allocate;
  window.created = true;
  window.version = 0;
  change(window);
}

void unmake(Window& window) {
  if (window.created) {
    MPI_Win_free(&window.win);
    if (!window.allocated) {
      MPI_Free_mem(window.memory);
    }
  }
}

}  // namespace

// Plain stores and a barrier suffice: every MPI here has the unified memory model (MPI-4, 12.4).
void change(Window& window) {
  window.version++;
  if (check::rank != 0) {
    for (int64_t i = 0; i < words; i++) {
      window.memory[i] = value(window.version, i);
    }
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  check::hidden_barrier();
}

void change_in_epoch(Window& window) {
  window.version++;
  for (int64_t i = 0; i < words; i++) {
    window.memory[i] = value(window.version, i);
  }
  MPI_Win_sync(window.win);
}

void with_window(bool allocate, const char* mode, const std::function<void(Window&)>& body) {
  Window window{};
  make(window, allocate, mode);
  body(window);
  check::hidden_barrier();
  if (window.created) served_by_others[mode] += check::stats(window.win).hits_shared;
  unmake(window);
}

MPI_Comm pair() {
  static MPI_Comm made = MPI_COMM_NULL;
  if (check::ranks == 2) return MPI_COMM_WORLD;
  if (made == MPI_COMM_NULL) HIDDEN(MPI_Comm_split)(MPI_COMM_WORLD, neighbour(), 0, &made);
  return made;
}

void neighbours_read_within(Window& window) {
  check::hidden_barrier();
  if (neighbour()) {
    int64_t got[2] = {-1, -1};
    get(window, &got[0], place);
    get(window, &got[1], far_place);
    MPI_Win_flush(target, window.win);
    // of any version: in some modes neighbours are not notified of changes
    EXPECT_EQ(got[0] % 1000, place);
    EXPECT_EQ(got[1] % 1000, far_place);
  }
  check::hidden_barrier();
}

void neighbours_read(Window& window) {
  if (neighbour()) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.win);
  neighbours_read_within(window);
  if (neighbour()) MPI_Win_unlock(target, window.win);
}

// The previous rows are meaningless for shared caches if no rank was served what others fetched.
// (In mode transparent that depends on who is first.)
void add_sharing(std::vector<check::Case>& cases) {
  cases.push_back({"neighbours_served_each_other", [] {
                     if (!shares()) return check::skip("without Nearcache nothing is shared");
                     for (const char* mode : {"always", "user"}) {
                       uint64_t all = 0;
                       HIDDEN(MPI_Allreduce)
                       (&served_by_others[mode], &all, 1, MPI_UINT64_T, MPI_SUM,
                        check::hidden_comm);
                       check::expect(all > 0, "nothing in mode %s", mode);
                     }
                   }});
}

}  // namespace semantics

int main(int argc, char** argv) {
  std::vector<check::Case> cases;
  semantics::add_complete_rows(cases);
  semantics::add_learn_rows(cases);
  semantics::add_write_rows(cases);
  semantics::add_mode_rows(cases);
  if (std::getenv("NEARCACHE_SHARE") != nullptr) semantics::add_sharing(cases);
  return check::run(argc, argv, 2, cases);
}
