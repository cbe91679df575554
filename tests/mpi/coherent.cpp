// Mode coherent: what was read is kept across acquires, and every change by another rank is seen.
// Run with NEARCACHE_QUIET_AFTER=1; `--kept` requires hits on kept data, so that no case passes
// merely because nothing is cached.
#include "coherent.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace coherent {
namespace {

// On a busy machine it takes long until a reader that was disappointed tries again.
constexpr auto patience = std::chrono::seconds(100);

void begin(const Window& window) {
  if (window.access == Access::lock_all) MPI_Win_lock_all(0, window.win);
  if (window.access == Access::no_check) MPI_Win_lock_all(MPI_MODE_NOCHECK, window.win);
  if (window.access == Access::fence) MPI_Win_fence(0, window.win);
}

void end(const Window& window) {
  if (window.access == Access::lock_all || window.access == Access::no_check)
    MPI_Win_unlock_all(window.win);
  if (window.access == Access::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window.win);
}

// Where there are no quiet phases nobody asks to be told of writes: no writer waits for that, and
// no owner looks for what it has stored. (Who stores to others' memory says so once.)
void nobody_read(const Window& window) {
  const nearcache_stats stats = check::stats(window.win);
  if (check::current.find("shared_query") == std::string::npos) EXPECT_EQ(stats.announcements, 0);
  EXPECT_EQ(stats.store_looks, 0);
}

}  // namespace

bool must_keep() { return check::cached() && check::listed(check::rest, "--kept"); }

uint64_t kept(const Window& window) { return check::stats(window.win).hits_kept; }

int64_t all_learn(int64_t of_reader) {
  int64_t mine = check::rank == reader ? of_reader : 0, sum = 0;
  MPI_Request request;
  HIDDEN(MPI_Iallreduce)(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, check::hidden_comm, &request);
  for (int done = 0; HIDDEN(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    usleep(20);
  return sum;
}

void with_window(const Wanted& wanted, const std::function<void(Window&)>& body) {
  const MPI_Comm comm = wanted.comm == MPI_COMM_NULL ? check::world : wanted.comm;
  Window window{};
  window.access = wanted.access;
  window.stride = wanted.stride;
  MPI_Info info = check::info("nearcache_mode", wanted.mode);
  if (wanted.allocate) {
    MPI_Win_allocate(wanted.bytes, wanted.unit, info, comm, &window.memory, &window.win);
  } else {
    window.memory = static_cast<int64_t*>(wanted.memory);
    MPI_Win_create(wanted.memory, wanted.bytes, wanted.unit, info, comm, &window.win);
  }
  MPI_Info_free(&info);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  window.units.resize(ranks);
  HIDDEN(MPI_Allgather)(&wanted.unit, 1, MPI_INT, window.units.data(), 1, MPI_INT, comm);
  for (int64_t word = 0; word < words; ++word) {
    window.expected.push_back(word);
    if ((word * wanted.stride + 1) * 8 <= wanted.bytes) window.store(word, word);
  }
  MPI_Barrier(comm);
  begin(window);
  body(window);
  end(window);
  MPI_Barrier(comm);
  if (check::cached() && std::getenv("NEARCACHE_STRICT_FLUSH") != nullptr) nobody_read(window);
  MPI_Win_free(&window.win);
}

void read_all(Window& window) {
  std::vector<int64_t> found(words, -1);
  if (check::rank == reader) {
    if (window.access == Access::locks) MPI_Win_lock(MPI_LOCK_SHARED, owner, 0, window.win);
    for (int64_t word = 0; word < words; ++word)
      MPI_Get(&found[word], 1, MPI_INT64_T, owner, window.at(word), 1, MPI_INT64_T, window.win);
    if (window.access == Access::locks) MPI_Win_unlock(owner, window.win);
    if (window.access == Access::lock_all || window.access == Access::no_check)
      MPI_Win_flush(owner, window.win);
  }
  if (window.access == Access::fence) MPI_Win_fence(0, window.win);
  if (check::rank == reader) {
    for (int64_t word = 0; word < words; ++word) EXPECT_EQ(found[word], window.expected[word]);
  }
}

void settle(Window& window, bool keeps) {
  const auto began = std::chrono::steady_clock::now();
  const bool wanted = must_keep() && keeps;
  bool done = false;
  int good = 0;  // in a row: a reader that was disappointed leaves some turns out
  for (int turn = 0; !done && (turn < 3 || wanted); ++turn) {
    MPI_Barrier(check::world);
    const uint64_t before = kept(window);
    read_all(window);
    const bool late = std::chrono::steady_clock::now() - began > patience;
    good = kept(window) >= before + 2 ? good + 1 : 0;
    done = all_learn(good == 2 || late || check::failures > 0 ? 1 : 0) != 0;
    if (done && check::rank == reader && wanted) EXPECT(!late);
    if (turn > 10) usleep(2000);
  }
}

void seen_after(const Wanted& wanted, const Step& change, const Step& tell, bool keeps) {
  with_window(wanted, [&](Window& window) {
    for (int round = 0; round < 3; ++round) {
      settle(window, keeps);
      change(window);
      tell(window);
      read_all(window);
      check::hidden_barrier();
    }
  });
}

void barrier(Window&) { MPI_Barrier(check::world); }

void message(int from, int to) {
  int token = 0;
  if (check::rank == from) MPI_Send(&token, 1, MPI_INT, to, 7, check::world);
  if (check::rank == to) MPI_Recv(&token, 1, MPI_INT, from, 7, check::world, MPI_STATUS_IGNORE);
}

void owner_sends(Window&) { message(owner, reader); }
void writer_sends(Window&) { message(writer, reader); }
void writer_sends_owner_sends(Window&) {
  message(writer, owner);
  message(owner, reader);
}

void owner_stores(Window& window) {
  const int64_t value = window.next();
  if (check::rank == owner) window.store(place, value);
}

void writer_puts(Window& window) {
  window.put = window.next();
  if (check::rank != writer) return;
  MPI_Put(&window.put, 1, MPI_INT64_T, owner, window.at(place), 1, MPI_INT64_T, window.win);
  if (window.access != Access::fence) MPI_Win_flush(owner, window.win);
}

}  // namespace coherent

int main(int argc, char** argv) {
  std::vector<check::Case> cases;
  coherent::add_stores(cases);
  coherent::add_writes(cases);
  coherent::add_windows(cases);
  return check::run(argc, argv, 3, cases, MPI_THREAD_FUNNELED);
}
