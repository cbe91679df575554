// MPI_THREAD_MULTIPLE: threads of both ranks get, flush and put at the same time, through a shared
// window and through one window per thread. Every thread checks every value; only it writes its own
// column of the shared window.
#include <atomic>
#include <random>
#include <thread>

#include "words.h"

namespace {

constexpr int threads = 4, rounds = 400, column = 64;
std::atomic<int> wrong;

void note(bool good) { wrong += good ? 0 : 1; }

void in_threads(const std::function<void(int)>& body) {
  wrong = 0;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; i++) {
    running.emplace_back(body, i);
  }
  for (std::thread& each : running) {
    each.join();
  }
  EXPECT_EQ(wrong.load(), 0);
}

int peer() { return check::rank ^ 1; }

// Reads only: the threads use the same entries.
void shared_window(const char* mode, const char* storage) {
  Words words(2000, mode,
              {{"nearcache_storage", storage},
               {"nearcache_adaptive", strcmp(storage, "1M") ? "false" : "true"}});
  in_threads([&](int thread) {
    std::mt19937 random(thread * 77 + check::rank);
    for (int i = 0; i < rounds; i++) {
      int64_t got[3][16];
      int at[3], count[3];
      for (int j = 0; j < 3; j++) {
        at[j] = (int)(random() % 100) * 16;
        count[j] = 1 + (int)(random() % 16);
        words.get(got[j], peer(), at[j], count[j]);
      }
      i % 2 ? MPI_Win_flush(peer(), words.win) : MPI_Win_flush_all(words.win);
      for (int j = 0; j < 3; j++) {
        for (int k = 0; k < count[j]; k++) {
          note(got[j][k] == Words::word(peer(), at[j] + k));
        }
      }
    }
  });
}

// Every thread writes its column at the peer and reads it back, while others read common words.
void shared_window_with_puts(const char* mode) {
  constexpr int common = 64;  // words 0 .. 63 are never written
  Words words(common + threads * column, mode);
  in_threads([&](int thread) {
    std::mt19937 random(thread);
    const int mine = common + thread * column;
    for (int64_t i = 0; i < rounds; i++) {
      const int at = mine + (int)(random() % column);
      const int64_t value = -(i * 100 + thread);
      int64_t back = 0, shared = 0;
      const int where = (int)(random() % common);
      MPI_Put(&value, 1, MPI_INT64_T, peer(), at, 1, MPI_INT64_T, words.win);
      words.flush(peer());
      words.get(&back, peer(), at);
      words.get(&shared, peer(), where);
      words.flush(peer());
      note(back == value);
      note(shared == Words::word(peer(), where));
    }
  });
}

// What a thread does while another one's flush is in progress; called by the lazy MPI once it has
// determined what the flush completes.
std::function<void()> meanwhile;
void in_another_thread() {
  const std::function<void()> once = std::move(meanwhile);
  meanwhile = nullptr;
  if (once) {
    std::thread(once).join();
  }
}

// A get issued too late for a flush in progress is not among those that it completes, although both
// have finished when it returns.
void get_during_a_flush_of_another_thread(const char* mode) {
  auto hook = (void (**)())dlsym(RTLD_DEFAULT, "lazy_mpi_meanwhile");
  if (hook == nullptr) {
    return check::skip("needs the lazy MPI");
  }
  Words words(100, mode);
  if (!origin()) {
    return;
  }
  int64_t first = -1, late = -1, repeat = -1;
  words.get(&first, 1, 3);
  meanwhile = [&] { words.get(&late, 1, 5); };
  *hook = in_another_thread;
  words.flush(1);
  *hook = nullptr;
  EXPECT(Words::right(&first, 1, 3));
  words.get(&repeat, 1, 5);  // of bytes that have not arrived
  words.flush(1);
  EXPECT(Words::right(&late, 1, 5) && Words::right(&repeat, 1, 5));
  EXPECT(words.read(1, 5) && words.read(1, 3));
}

void window_of_each_thread() {
  std::vector<MPI_Win> windows(threads);
  std::vector<int64_t> memory(256);
  for (int i = 0; i < 256; i++) {
    memory[i] = check::rank * 1000 + i;
  }
  MPI_Info info = check::info("nearcache_mode", "always");
  for (MPI_Win& win : windows) {
    MPI_Win_create(memory.data(), 256 * 8, 8, info, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
  }
  check::hidden_barrier();
  in_threads([&](int thread) {
    for (int i = 0; i < rounds; i++) {
      int64_t got = -1;
      MPI_Request request;
      MPI_Rget(&got, 1, MPI_INT64_T, peer(), i % 256, 1, MPI_INT64_T, windows[thread], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      note(got == peer() * 1000 + i % 256);
    }
  });
  check::hidden_barrier();
  for (MPI_Win& win : windows) {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
  MPI_Info_free(&info);
}

// Many MPIs give all requests that are complete at once the same handle. A thread may change its
// buffer as soon as it has waited, whatever other threads do that wait for that handle.
void buffers_change_after_waits_for_one_handle() {
  constexpr int64_t long_get = 8192, gets = 8, all = gets * long_get;
  MPI_Info info = check::info("nearcache_mode", "always");
  MPI_Info_set(info, "nearcache_skip_cheap", "false");
  MPI_Info_set(info, "nearcache_storage", "4M");
  std::vector<MPI_Win> windows(threads);
  for (MPI_Win& win : windows) {
    int64_t* memory;
    MPI_Win_allocate(all * 8, 8, info, MPI_COMM_WORLD, &memory, &win);
    for (int64_t i = 0; i < all; i++) memory[i] = Words::word(check::rank, i);
    check::hidden_barrier();
    MPI_Win_lock_all(0, win);
  }
  MPI_Info_free(&info);
  in_threads([&](int thread) {
    std::vector<int64_t> got(long_get);
    for (int i = 0; i < 4 * rounds; i++) {
      const int64_t at = i % gets * long_get;
      MPI_Request request;
      if (i % (2 * gets) == 0 && check::cached()) nearcache_invalidate(windows[thread]);
      MPI_Rget(got.data(), long_get, MPI_INT64_T, peer(), at, long_get, MPI_INT64_T,
               windows[thread], &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (i % (2 * gets) >= gets) {  // it was kept
        bool right = true;
        for (int64_t k = 0; k < long_get; k++)
          right = right && got[k] == Words::word(peer(), at + k);
        note(right);
      }
      std::memset(got.data(), 0, long_get * 8);
    }
  });
  check::hidden_barrier();
  for (MPI_Win& win : windows) {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
}

// The sums over all windows of a process never decrease while another thread frees windows.
void sums_while_windows_are_freed() {
  if (!check::cached()) {
    return check::skip("needs Nearcache");
  }
  std::atomic<bool> done{false};
  std::atomic<int> fallen{0};
  std::vector<std::thread> looking;
  for (int i = 0; i < 2; i++) {
    looking.emplace_back([&] {
      uint64_t last = 0;
      while (!done) {
        const uint64_t gets = check::stats(MPI_WIN_NULL).gets;
        fallen += gets < last;
        last = gets;
      }
    });
  }
  for (int i = 0; i < rounds; i++) {
    int64_t* memory = nullptr;
    int64_t got = 0;
    MPI_Win win;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, win);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
  done = true;
  for (std::thread& each : looking) {
    each.join();
  }
  EXPECT_EQ(fallen.load(), 0);
}

}  // namespace

int main(int argc, char** argv) {
  return check::run(
      argc, argv, 2,
      {{"shared_window_always", [] { shared_window("always", "1M"); }},
       {"shared_window_transparent", [] { shared_window("transparent", "1M"); }},
       {"shared_window_little_storage", [] { shared_window("always", "2048"); }},
       {"puts_always", [] { shared_window_with_puts("always"); }},
       {"puts_transparent", [] { shared_window_with_puts("transparent"); }},
       {"get_during_a_flush_always", [] { get_during_a_flush_of_another_thread("always"); }},
       {"get_during_a_flush_transparent",
        [] { get_during_a_flush_of_another_thread("transparent"); }},
       {"window_of_each_thread", window_of_each_thread},
       {"buffers_change_after_waits_for_one_handle", buffers_change_after_waits_for_one_handle},
       {"sums_while_windows_are_freed", sums_while_windows_are_freed}},
      MPI_THREAD_MULTIPLE);
}
