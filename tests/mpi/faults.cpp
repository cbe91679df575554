// Calls that fail, and synchronisation that another thread overtakes. Run over shim_mpi, which the
// test controls.
#include <algorithm>
#include <thread>

#include "shim.h"
#include "words.h"

namespace {

constexpr int64_t garbage = -4242;

// A flush that fails completes nothing: the repeated flush must reach MPI, and the fetched data
// must be kept as they arrived.
void flush_is_tried_again_after_a_failure() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    if (!origin() || !shimmed()) continue;
    int64_t got = -1, again = -1;
    words.get(&got, 1, 7);
    words.get(&again, 1, 7);  // goes along with the first
    shim("shim_fail", "MPI_Win_flush", 1);
    EXPECT(MPI_Win_flush(1, words.win) != MPI_SUCCESS);
    const long flushes = shim("shim_calls", "MPI_Win_flush");
    EXPECT(MPI_Win_flush(1, words.win) == MPI_SUCCESS);
    EXPECT_CACHED(shim("shim_calls", "MPI_Win_flush") == flushes + 1);
    EXPECT(Words::right(&got, 1, 7) && Words::right(&again, 1, 7));
    EXPECT(words.read(1, 7));
  }
}

void put_is_outstanding_after_a_failed_flush() {
  for (const char* mode : {"transparent", "always"}) {
    for (const bool all : {false, true}) {
      Words words(100, mode);
      if (!origin() || !shimmed()) continue;
      const char* name = all ? "MPI_Win_flush_all" : "MPI_Win_flush";
      const auto flush = [&] {
        return all ? MPI_Win_flush_all(words.win) : MPI_Win_flush(1, words.win);
      };
      const int64_t value = Words::word(1, 3);
      MPI_Put(&value, 1, MPI_INT64_T, 1, 3, 1, MPI_INT64_T, words.win);
      shim("shim_fail", name, 1);
      EXPECT(flush() != MPI_SUCCESS);
      const long flushes = shim("shim_calls", name);
      EXPECT(flush() == MPI_SUCCESS);
      EXPECT_EQ(shim("shim_calls", name), flushes + 1);
    }
  }
}

void failed_unlock_leaves_the_epoch_open() {
  Words words(100);
  MPI_Win_unlock_all(words.win);
  if (origin() && shimmed()) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
    int64_t got = -1;
    words.get(&got, 1, 9);
    shim("shim_fail", "MPI_Win_unlock", 1);
    EXPECT(MPI_Win_unlock(1, words.win) != MPI_SUCCESS);
    EXPECT(words.read(1, 11));
    EXPECT(MPI_Win_unlock(1, words.win) == MPI_SUCCESS);
    EXPECT(Words::right(&got, 1, 9));
  }
  MPI_Win_lock_all(0, words.win);
  if (origin()) EXPECT(words.read(1, 9) && words.read(1, 11));
}

// A request that failed is null nevertheless; the contents of its buffer are undefined.
void failed_wait_keeps_nothing() {
  const char* const names[] = {"MPI_Wait", "MPI_Test", "MPI_Waitall"};
  for (int how = 0; how < 3; how++) {
    Words words(100);
    if (!origin() || !shimmed()) continue;
    int64_t got = -1;
    MPI_Request request;
    MPI_Rget(&got, 1, MPI_INT64_T, 1, 20 + how, 1, MPI_INT64_T, words.win, &request);
    shim("shim_fail", names[how], 1);
    int done = 0, code = MPI_SUCCESS;
    if (how == 0) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (how == 1) code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (how == 2) code = MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    EXPECT(code != MPI_SUCCESS);
    EXPECT_CACHED(check::stats(words.win).entries == 0);
    words.flush(1);
    EXPECT(words.read(1, 20 + how));
  }
}

// A get that is refused after its head was found in flight: nothing may be written to its buffer
// any more.
void refused_tail_leaves_the_buffer_alone() {
  for (const char* mode : {"transparent", "always"}) {
    Words words(100, mode);
    if (!origin() || !shimmed()) continue;
    int64_t head[4], longer[8];
    std::fill_n(longer, 8, garbage);
    words.get(head, 1, 40, 4);
    shim("shim_fail", "MPI_Get", 1);
    EXPECT(words.get(longer, 1, 40, 8) != MPI_SUCCESS);
    words.flush(1);
    EXPECT(Words::right(head, 1, 40, 4));
    for (const int64_t word : longer) EXPECT_EQ(word, garbage);
    EXPECT(words.read(1, 40, 8));
  }
}

void refused_get_is_not_counted() {
  Words words(100);
  if (!origin() || !shimmed()) return;
  shim("shim_fail", "MPI_Get", 1);
  int64_t got = -1;
  const auto before = check::stats(words.win);
  EXPECT(words.get(&got, 1, 60) != MPI_SUCCESS);
  const auto after = check::stats(words.win);
  EXPECT_EQ(after.gets, before.gets);
  EXPECT_EQ(after.bytes_requested, before.bytes_requested);
  EXPECT_EQ(after.bytes_from_network, before.bytes_from_network);
}

// An MPI may acquire the lock at the first call that needs it; the program may rely on the lock to
// keep others out.
void first_flush_of_an_exclusive_lock_goes_down() {
  Words words(100);
  MPI_Win_unlock_all(words.win);
  if (origin() && shimmed()) {
    for (int round = 0; round < 2; round++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, words.win);
      const long flushes = shim("shim_calls", "MPI_Win_flush");
      words.flush(1);
      EXPECT_EQ(shim("shim_calls", "MPI_Win_flush"), flushes + 1);
      words.flush(1);
      EXPECT_CACHED(shim("shim_calls", "MPI_Win_flush") == flushes + 1);
      MPI_Win_unlock(1, words.win);
    }
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
    const long flushes = shim("shim_calls", "MPI_Win_flush");
    words.flush(1);
    EXPECT_CACHED(shim("shim_calls", "MPI_Win_flush") == flushes);
    MPI_Win_unlock(1, words.win);
  }
  check::hidden_barrier();
  MPI_Win_lock_all(0, words.win);
}

// In mode always a shared lock goes down with the first operation that needs it.
void refused_lock_of_an_rget_leaves_nothing_to_the_next_get() {
  Words words(100);
  MPI_Win_set_errhandler(words.win, MPI_ERRORS_RETURN);
  MPI_Win_unlock_all(words.win);
  if (origin() && shimmed()) {
    const auto lock = [&] { MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win); };
    lock();
    EXPECT(words.read(1, 32, 2));
    int64_t got = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    const auto rget = [&](int64_t at) {
      return MPI_Rget(&got, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, words.win, &request);
    };
    // The first that is served finds out which request to give.
    rget(32);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(1, words.win);
    lock();
    shim("shim_fail", "MPI_Win_lock", 1);
    const int code = rget(72);
    EXPECT_CACHED(code != MPI_SUCCESS);
    shim("shim_fail", "MPI_Win_lock", 0);
    if (code == MPI_SUCCESS) MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(words.read(1, 32, 8));  // more than is cached there
    EXPECT(words.read(1, 72, 8) && words.read(1, 32, 8));
    MPI_Win_unlock(1, words.win);
  }
  check::hidden_barrier();
  MPI_Win_lock_all(0, words.win);
}

const Words* refused_words;
bool handler_unlocks;
int refusals;

void use_the_window(MPI_Win*, int*, ...) {
  if (++refusals > 1) return;
  int64_t got = -1;
  if (handler_unlocks) {
    MPI_Win_unlock(1, refused_words->win);
  } else {
    EXPECT_CACHED(refused_words->get(&got, 1, 40) != MPI_SUCCESS);
  }
}

void error_handler_uses_the_window_whose_lock_is_refused() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(use_the_window, &handler);
  for (const bool unlocks : {false, true}) {
    Words words(100);
    MPI_Win_set_errhandler(words.win, handler);
    MPI_Win_unlock_all(words.win);
    if (origin() && shimmed()) {
      refused_words = &words;
      handler_unlocks = unlocks;
      refusals = 0;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
      EXPECT(words.read(1, 5));
      MPI_Win_unlock(1, words.win);
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
      // Before it is known that the get must go down, and again then.
      shim("shim_fail", "MPI_Win_lock", 2);
      int64_t got = -1;
      EXPECT_CACHED(words.get(&got, 1, 50) != MPI_SUCCESS && refusals >= 1);
      shim("shim_fail", "MPI_Win_lock", 0);
      if (unlocks && refusals > 0) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, words.win);
      EXPECT(words.read(1, 50) && words.read(1, 40));
      MPI_Win_unlock(1, words.win);
    }
    check::hidden_barrier();
    MPI_Win_lock_all(0, words.win);
  }
  MPI_Errhandler_free(&handler);
}

// Reads until no rank is known to write, so that what was read is kept although gets complete. With
// MPICH 4.0.2 nothing is.
void settle(const Words& words) {
  for (int turn = 0; turn < 1000 && check::cached(); ++turn) {
    const uint64_t before = check::stats(words.win).hits_full;
    words.read(1, 5), words.read(1, 5);
    if (check::stats(words.win).hits_full > before) break;
  }
}

// As if another rank had revoked the communicator or had ended: from the failure, the sender learns
// what that rank did before.
void a_send_that_fails_tells_of_others() {
  Words words(100, "transparent");
  if (!shimmed()) return;
  if (origin()) {
    settle(words);
    EXPECT(words.read(1, 20));
    const uint64_t before = check::stats(words.win).hits_full;
    EXPECT(words.read(1, 20));
    const uint64_t kept = check::stats(words.win).hits_full;
    shim("shim_fail", "MPI_Send", 1);
    EXPECT(MPI_Send(&before, 1, MPI_UINT64_T, 1, 0, check::world) != MPI_SUCCESS);
    EXPECT(words.read(1, 20));
    EXPECT(check::stats(words.win).hits_full == kept);
  }
}

// From then on this rank counts one phase less than the others. What it tells them of its writes
// must not be taken as outdated, and they must be told again.
void a_barrier_fails_at_a_rank_that_writes() {
  Words words(100, "transparent");
  if (!shimmed()) return;
  const auto put = [&](int64_t value) {
    if (!origin()) {
      MPI_Put(&value, 1, MPI_INT64_T, 1, 7, 1, MPI_INT64_T, words.win);
      words.flush(1);
    }
    check::hidden_barrier();
  };
  const auto expect = [&](int64_t value) {
    int64_t got = -1;
    if (origin()) {
      words.get(&got, 1, 7);
      words.flush(1);
      EXPECT_EQ(got, value);
    }
    check::hidden_barrier();
  };
  if (origin()) settle(words);
  expect(Words::word(1, 7));
  put(500);
  if (!origin()) {
    shim("shim_fail", "MPI_Barrier", 1);
    EXPECT(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS);
  }
  (origin() ? MPI_Barrier : HIDDEN(MPI_Barrier))(MPI_COMM_WORLD);
  if (origin()) settle(words);
  expect(500);
  put(1000);
  expect(1000);
}

constexpr int about_to_create = 71, has_looked = 72;

void let_the_other_look() {
  int nothing = 0;
  HIDDEN(MPI_Send)(&nothing, 1, MPI_INT, 0, about_to_create, MPI_COMM_WORLD);
  HIDDEN(MPI_Recv)(&nothing, 1, MPI_INT, 0, has_looked, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// Others may write by a window as soon as it is made, of which readers by an older window with the
// same memory hear nothing.
void memory_of_two_windows_is_not_kept_before_the_second_is_made() {
  Words words(6400, "coherent");
  if (!shimmed() || !check::cached()) return;
  int nothing = 0;
  const auto kept = [&] {
    const uint64_t before = check::stats(words.win).hits_kept;
    for (int at = 0; at < 6400; at += 64) EXPECT(words.read(1, at));
    return check::stats(words.win).hits_kept - before;
  };
  int settled = 0;
  for (int turn = 0; turn < 5000 && settled == 0; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    int mine = origin() && kept() > 50 ? 1 : 0;
    HIDDEN(MPI_Allreduce)(&mine, &settled, 1, MPI_INT, MPI_SUM, check::hidden_comm);
  }
  EXPECT_EQ(settled, 1);
  if (origin()) {
    MPI_Recv(&nothing, 1, MPI_INT, 1, about_to_create, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(kept(), 0u);
    HIDDEN(MPI_Send)(&nothing, 1, MPI_INT, 1, has_looked, MPI_COMM_WORLD);
  } else {
    *static_cast<void (**)()>(dlsym(RTLD_DEFAULT, "shim_at_create")) = let_the_other_look;
    MPI_Win second;
    MPI_Win_create(words.memory.data(), 6400 * 8, 8, MPI_INFO_NULL, MPI_COMM_SELF, &second);
    MPI_Win_free(&second);
  }
}

// One thread's flush is completing its put while another thread reads the same word, which may be
// older than the put.
void get_during_another_threads_flush_of_a_put() {
  Words words(100);
  if (!origin() || !shimmed()) return;
  const int64_t value = 777;
  words.read(1, 1);  // the cache is there
  shim("shim_hold");
  std::thread writer([&] {
    MPI_Put(&value, 1, MPI_INT64_T, 1, 30, 1, MPI_INT64_T, words.win);
    words.flush(1);
  });
  shim("shim_wait_for_flush");
  int64_t racing = -1;
  words.get(&racing, 1, 30);
  words.flush(1);
  shim("shim_let_go");
  writer.join();
  int64_t got = -1;
  words.get(&got, 1, 30);
  words.flush(1);
  EXPECT_EQ(got, value);
}

}  // namespace

// With --single there is one thread, and the cache takes its single-threaded paths.
int main(int argc, char** argv) {
  const bool single = std::any_of(
      argv + 1, argv + argc, [](const char* word) { return std::strcmp(word, "--single") == 0; });
  return check::run(
      argc, argv, 2,
      {{"flush_is_tried_again_after_a_failure", flush_is_tried_again_after_a_failure},
       {"put_is_outstanding_after_a_failed_flush", put_is_outstanding_after_a_failed_flush},
       {"failed_unlock_leaves_the_epoch_open", failed_unlock_leaves_the_epoch_open},
       {"failed_wait_keeps_nothing", failed_wait_keeps_nothing},
       {"refused_tail_leaves_the_buffer_alone", refused_tail_leaves_the_buffer_alone},
       {"refused_get_is_not_counted", refused_get_is_not_counted},
       {"first_flush_of_an_exclusive_lock_goes_down", first_flush_of_an_exclusive_lock_goes_down},
       {"refused_lock_of_an_rget_leaves_nothing_to_the_next_get",
        refused_lock_of_an_rget_leaves_nothing_to_the_next_get},
       {"error_handler_uses_the_window_whose_lock_is_refused",
        error_handler_uses_the_window_whose_lock_is_refused},
       {"a_send_that_fails_tells_of_others",
        [=] { single ? a_send_that_fails_tells_of_others() : void(); }},
       {"a_barrier_fails_at_a_rank_that_writes",
        [=] { single ? a_barrier_fails_at_a_rank_that_writes() : void(); }},
       {"memory_of_two_windows_is_not_kept_before_the_second_is_made",
        [=] { single ? memory_of_two_windows_is_not_kept_before_the_second_is_made() : void(); }},
       {"get_during_another_threads_flush_of_a_put",
        [=] { single ? void() : get_during_another_threads_flush_of_a_put(); }}},
      single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
}
