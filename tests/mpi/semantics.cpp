// One row for every call of the semantics table (docs/semantics): rank 1 changes its window between
// two gets of rank 0, and the second get must see the change. Three kinds of row, by where the call
// stands:
//
//   complete  get; CALL completes it; change; get          CALL must drop what the epoch cached
//   learn     get; (change); CALL tells of it; get; flush  the second get must not be served by the
//             first one
//   write     always/user mode: get; own CALL writes; get  the written bytes must be fetched again
//
// So that no row passes because nothing is cached at all, each one also repeats its gets and looks
// at the counters. Rank 0 and rank 1 meet by check::hidden_barrier, which Nearcache does not see.
#include "semantics.h"

#include <atomic>

namespace semantics {

namespace {

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

// Plain stores and a barrier are enough: every MPI here has the unified memory model (MPI-4, 12.4).
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
  unmake(window);
}

}  // namespace semantics

int main(int argc, char** argv) {
  std::vector<check::Case> cases;
  semantics::add_complete_rows(cases);
  semantics::add_learn_rows(cases);
  semantics::add_write_rows(cases);
  semantics::add_mode_rows(cases);
  return check::run(argc, argv, 2, cases);
}
