// Two ranks whose gets are all hits must still let a third one finish that needs them: many MPIs
// progress other ranks' one-sided operations only inside MPI calls, and a hit makes none. Rank 2
// reads from and writes to the windows of the others, and finally puts the word that ends their
// loops. If hits never called MPI, no rank would finish. Likewise for ranks that wait by flushes
// with nothing to do, and by MPI_Win_sync, which some MPIs do without progress.
#include "words.h"

namespace {

void hitters_let_the_third_rank_finish() {
  constexpr int reads = 50;
  int64_t stop = 0;
  MPI_Win stopping;
  MPI_Win_create(&stop, sizeof stop, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &stopping);
  MPI_Win_lock_all(0, stopping);
  Words words(100);
  check::hidden_barrier();
  if (check::rank < 2) {
    const int neighbour = 1 - check::rank;
    EXPECT(words.read(neighbour, 1));
    uint64_t calls = 0;
    volatile int64_t* flag = &stop;
    const auto before = check::stats(words.win);
    while (*flag == 0) {  // only hits, no other calls
      words.read(neighbour, 1);
      calls++;
    }
    EXPECT_CACHED(check::stats(words.win).hits_full - before.hits_full == calls);
  } else if (check::rank == 2) {
    for (int i = 0; i < reads; i++) {
      EXPECT(words.read(i % 2, i));  // misses: they need help from the two other ranks
    }
    const int64_t one = 1;
    for (int target = 0; target < 2; target++) {
      MPI_Put(&one, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, stopping);
      MPI_Win_flush(target, stopping);
    }
  }
  check::hidden_barrier();
  MPI_Win_unlock_all(stopping);
  MPI_Win_free(&stopping);
}

// As mpi4py's mutexes wait.
void flushes_and_syncs_let_the_third_rank_finish() {
  const int64_t other = -1;
  Words words(100);
  MPI_Win_flush_all(words.win);
  check::hidden_barrier();
  if (check::rank < 2) {
    volatile int64_t* flag = words.memory.data();
    for (; *flag != other; MPI_Win_sync(words.win)) MPI_Win_flush(check::rank, words.win);
  } else if (check::rank == 2) {
    for (int target = 0; target < 2; target++) {
      MPI_Put(&other, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, words.win);
      MPI_Win_flush(target, words.win);
    }
  }
  check::hidden_barrier();
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(argc, argv, 3,
                    {{"hitters_let_the_third_rank_finish", hitters_let_the_third_rank_finish},
                     {"flushes_and_syncs_let_the_third_rank_finish",
                      flushes_and_syncs_let_the_third_rank_finish}});
}
