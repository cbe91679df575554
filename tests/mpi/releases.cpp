// Every call that releases (src/mpi/entry/entry_points.txt): rank 0 keeps what it read from rank 1,
// rank 1 stores a new value and makes this one call, and after an acquire rank 0 must get that
// value. With --hidden (and hide_mpi in front) Nearcache does not see the call: then the old value
// must be read, or the row would show nothing. All other communication between the ranks is hidden
// from Nearcache in any case.
#include "releases.h"

#include <array>
#include <cstdlib>

namespace releases {
namespace {

constexpr int reader = 0, owner = 1;
constexpr int64_t words = 64, spread = 64, place = 5;

struct Window {
  MPI_Win win;
  int64_t* memory;
  int64_t value = 0;  // expected at `place`
};

bool hides() { return check::listed(check::rest, "--hidden"); }

void hide(const char* name) {
  if (!hides()) return;
  const auto hide_mpi = reinterpret_cast<void (*)(const char*)>(dlsym(RTLD_DEFAULT, "hide_mpi"));
  if (EXPECT(hide_mpi != nullptr)) hide_mpi(name);
}

uint64_t kept(const Window& window) { return check::stats(window.win).hits_kept; }

// Returns what the reader gets at `place`.
int64_t read(const Window& window) {
  std::array<int64_t, words> found{};
  for (int64_t word = 0; word < words; ++word)
    MPI_Get(&found[word], 1, MPI_INT64_T, owner, word * spread, 1, MPI_INT64_T, window.win);
  MPI_Win_flush(owner, window.win);
  return found[place];
}

bool both_learn(bool of_reader) {
  int mine = check::rank == reader && of_reader, sum = 0;
  MPI_Request learning;
  HIDDEN(MPI_Iallreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, check::hidden_comm, &learning);
  for (int done = 0; HIDDEN(MPI_Test)(&learning, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    usleep(20);
  return sum != 0;
}

void make(Window& window) {
  window = {};
  MPI_Info info = check::info("nearcache_mode", "coherent");
  MPI_Win_allocate(words * spread * 8, 8, info, check::world, &window.memory, &window.win);
  MPI_Info_free(&info);
  std::memset(window.memory, 0, words * spread * 8);
  MPI_Barrier(check::world);
  MPI_Win_lock_all(0, window.win);
}

void unmake(Window& window) {
  MPI_Win_unlock_all(window.win);
  MPI_Win_free(&window.win);
}

// Reads until the reader keeps what it reads; returns false if it never does.
bool settles(const Window& window) {
  int good = 0;
  for (int turn = 0; turn < 25; ++turn) {
    MPI_Barrier(check::world);
    const uint64_t before = kept(window);
    if (check::rank == reader) EXPECT_EQ(read(window), window.value);
    good = kept(window) > before + words / 2 ? good + 1 : 0;
    if (both_learn(good == 2 || check::failures > 0)) return true;
  }
  return false;
}

// Some calls leave nothing of a window to be kept for a while, and so does a search for stores that
// has taken too large a share of the time.
void settle(Window& window) {
  for (int turn = 0; turn < 200; ++turn) {
    if (settles(window)) return;
    unmake(window);
    make(window);
  }
  EXPECT(check::rank != reader);
}

// Returns what the reader gets after the owner has stored and made the call.
int64_t stored_and_told(const Row& row, Window& window) {
  settle(window);
  if (check::rank == owner) row.prepare();
  check::hidden_barrier();
  ++window.value;
  int64_t found = -1;
  if (check::rank == owner) {
    reinterpret_cast<volatile int64_t*>(window.memory)[place * spread] = window.value;
    hide(row.symbol.c_str());
    row.call();
    hide("");
  } else if (check::rank == reader && row.partner) {
    row.partner();
  }
  check::hidden_barrier();
  if (check::rank == reader) {
    // acquires
    MPI_Sendrecv(sent, 1, MPI_INT, 0, 1, received, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE);
    found = read(window);
  }
  check::hidden_barrier();
  if (check::rank == owner) row.finish();
  check::hidden_barrier();
  return found;
}

void run(const Row& row, Window& window) {
  if (!hides()) {
    const int64_t found = stored_and_told(row, window);
    if (check::rank == reader) EXPECT_EQ(found, window.value);
    return;
  }
  // Occasionally nothing is kept, because looking for stores has taken too much of the time.
  bool stale = false;
  for (int turn = 0; turn < 10 && !stale; ++turn) {
    const int64_t before = window.value;
    stale = both_learn(stored_and_told(row, window) == before);
  }
  EXPECT(stale);
}

#define SENDS_TO_SELF PREPARE(HIDDEN(MPI_Irecv)(received, 1, MPI_INT, 0, 1, self, &peer))
#define RECEIVES_OF_SELF PREPARE(HIDDEN(MPI_Isend)(sent, 1, MPI_INT, 0, 1, self, &peer))
#define PEER FINISH(HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE))
#define BOTH_REQUESTS \
  FINISH(HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE); HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE))
#define TO_SELF (sent, 1, MPI_INT, 0, 1, self)
#define TO_SELF_BY_REQUEST (sent, 1, MPI_INT, 0, 1, self, &request)

MPI_Message matched;

void match() {
  HIDDEN(MPI_Isend)(sent, 1, MPI_INT, 0, 1, self, &peer);
  HIDDEN(MPI_Mprobe)(0, 1, self, &matched, MPI_STATUS_IGNORE);
}

void free_both() {
  HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE);
  HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE);
  HIDDEN(MPI_Request_free)(&request);
}

void begin_persistent() {
  HIDDEN(MPI_Isend)(sent, 1, MPI_INT, 0, 1, self, &peer);
  HIDDEN(MPI_Recv_init)(received, 1, MPI_INT, 0, 1, self, &request);
}

#if MPI_VERSION >= 4
void begin_parts() {
  HIDDEN(MPI_Psend_init)(sent, 2, 1, MPI_INT, 0, 2, self, MPI_INFO_NULL, &request);
  HIDDEN(MPI_Precv_init)(received, 2, 1, MPI_INT, 0, 2, self, MPI_INFO_NULL, &peer);
  HIDDEN(MPI_Start)(&peer);
  HIDDEN(MPI_Start)(&request);
}

void end_parts() {
  HIDDEN(MPI_Wait)(&request, MPI_STATUS_IGNORE);
  HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE);
  HIDDEN(MPI_Request_free)(&request);
  HIDDEN(MPI_Request_free)(&peer);
}

void use_parts() {
  HIDDEN(MPI_Start)(&peer);
  HIDDEN(MPI_Start)(&request);
  HIDDEN(MPI_Pready_range)(0, 1, request);
  end_parts();
}

void add_parts(Rows& rows) {
  // An MPI cannot free one side of a partitioned transfer that has never met the other.
  ROW(MPI_Precv_init,
      PREPARE(HIDDEN(MPI_Psend_init)(sent, 2, 1, MPI_INT, 0, 2, self, MPI_INFO_NULL, &request)),
      (received, 2, 1, MPI_INT, 0, 2, self, MPI_INFO_NULL, &peer), use_parts)
  static const int both[2] = {0, 1};
  ROW(MPI_Pready, PREPARE(begin_parts(); HIDDEN(MPI_Pready)(1, request)), (0, request), end_parts)
  ROW(MPI_Pready_range, begin_parts, (0, 1, request), end_parts)
  ROW(MPI_Pready_list, begin_parts, (2, const_cast<int*>(both), request), end_parts)
}
#else
void add_parts(Rows&) {}
#endif

void add_messages(Rows& rows) {
  BOTH(MPI_Send, SENDS_TO_SELF, TO_SELF, PEER)
  BOTH(MPI_Bsend, SENDS_TO_SELF, TO_SELF, PEER)
  BOTH(MPI_Rsend, SENDS_TO_SELF, TO_SELF, PEER)
  BOTH(MPI_Ssend, SENDS_TO_SELF, TO_SELF, PEER)
  BOTH(MPI_Isend, SENDS_TO_SELF, TO_SELF_BY_REQUEST, BOTH_REQUESTS)
  BOTH(MPI_Ibsend, SENDS_TO_SELF, TO_SELF_BY_REQUEST, BOTH_REQUESTS)
  BOTH(MPI_Irsend, SENDS_TO_SELF, TO_SELF_BY_REQUEST, BOTH_REQUESTS)
  BOTH(MPI_Issend, SENDS_TO_SELF, TO_SELF_BY_REQUEST, BOTH_REQUESTS)
  BOTH(MPI_Recv, RECEIVES_OF_SELF, (received, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE), PEER)
  BOTH(MPI_Irecv, RECEIVES_OF_SELF, (received, 1, MPI_INT, 0, 1, self, &request), BOTH_REQUESTS)
  BOTH(MPI_Mrecv, match, (received, 1, MPI_INT, &matched, MPI_STATUS_IGNORE), PEER)
  BOTH(MPI_Imrecv, match, (received, 1, MPI_INT, &matched, &request), BOTH_REQUESTS)
  BOTH(MPI_Sendrecv, NOTHING,
       (sent, 1, MPI_INT, 0, 1, received, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE), NOTHING)
  BOTH(MPI_Sendrecv_replace, NOTHING, (sent, 1, MPI_INT, 0, 1, 0, 1, self, MPI_STATUS_IGNORE),
       NOTHING)
  BOTH(MPI_Isendrecv, NOTHING, (sent, 1, MPI_INT, 0, 1, received, 1, MPI_INT, 0, 1, self, &request),
       WAIT)
  BOTH(MPI_Isendrecv_replace, NOTHING, (sent, 1, MPI_INT, 0, 1, 0, 1, self, &request), WAIT)
  ROW(MPI_Probe, RECEIVES_OF_SELF, (0, 1, self, MPI_STATUS_IGNORE),
      FINISH(HIDDEN(MPI_Recv)(received, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE);
             HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE)))
  ROW(MPI_Mprobe, RECEIVES_OF_SELF, (0, 1, self, &matched, MPI_STATUS_IGNORE),
      FINISH(HIDDEN(MPI_Mrecv)(received, 1, MPI_INT, &matched, MPI_STATUS_IGNORE);
             HIDDEN(MPI_Wait)(&peer, MPI_STATUS_IGNORE)))
  BOTH(MPI_Recv_init, NOTHING, (received, 1, MPI_INT, 0, 1, self, &request), FREE_REQUEST)
  ROW(MPI_Start, begin_persistent, (&request), free_both)
  ROW(MPI_Startall, begin_persistent, (1, &request), free_both)
}

void make_window() { HIDDEN(MPI_Win_create)(sent, sizeof sent, 4, MPI_INFO_NULL, self, &win); }
void free_window() { HIDDEN(MPI_Win_free)(&win); }
void lock_window() {
  make_window();
  HIDDEN(MPI_Win_lock_all)(0, win);
}
void unlock_window() {
  HIDDEN(MPI_Win_unlock_all)(win);
  free_window();
}
MPI_Group group_of_self() {
  MPI_Group group;
  HIDDEN(MPI_Comm_group)(self, &group);
  return group;
}

int test_window() {
  for (int done = 0; !done;) MPI_Win_test(win, &done);
  return MPI_SUCCESS;
}

void add_windows(Rows& rows) {
  BOTH(MPI_Win_create, NOTHING, (sent, sizeof sent, 4, MPI_INFO_NULL, self, &win), free_window)
  BOTH(MPI_Win_allocate, NOTHING, (64, 1, MPI_INFO_NULL, self, &memory, &win), free_window)
  BOTH(MPI_Win_allocate_shared, NOTHING, (64, 1, MPI_INFO_NULL, self, &memory, &win), free_window)
  ROW(MPI_Win_create_dynamic, NOTHING, (MPI_INFO_NULL, self, &win), free_window)
  ROW(MPI_Win_attach, PREPARE(HIDDEN(MPI_Win_create_dynamic)(MPI_INFO_NULL, self, &win)),
      (win, sent, sizeof sent), FINISH(HIDDEN(MPI_Win_detach)(win, sent); free_window()))
  ROW(MPI_Win_detach,
      PREPARE(HIDDEN(MPI_Win_create_dynamic)(MPI_INFO_NULL, self, &win);
              HIDDEN(MPI_Win_attach)(win, sent, sizeof sent)),
      (win, sent), free_window)
  ROW(MPI_Win_set_info, make_window, (win, MPI_INFO_ENV), free_window)
  ROW(MPI_Win_free, make_window, (&win), NOTHING)
  ROW(MPI_Win_fence, make_window, (0, win),
      FINISH(HIDDEN(MPI_Win_fence)(MPI_MODE_NOSUCCEED, win); free_window()))
  ROW(MPI_Win_post, make_window, (group_of_self(), 0, win),
      FINISH(HIDDEN(MPI_Win_start)(group_of_self(), 0, win); HIDDEN(MPI_Win_complete)(win);
             HIDDEN(MPI_Win_wait)(win); free_window()))
  ROW(MPI_Win_complete,
      PREPARE(make_window(); HIDDEN(MPI_Win_post)(group_of_self(), 0, win);
              HIDDEN(MPI_Win_start)(group_of_self(), 0, win)),
      (win), FINISH(HIDDEN(MPI_Win_wait)(win); free_window()))
  const auto exposed = [] {
    make_window();
    HIDDEN(MPI_Win_post)(group_of_self(), 0, win);
    HIDDEN(MPI_Win_start)(group_of_self(), 0, win);
    HIDDEN(MPI_Win_complete)(win);
  };
  ROW(MPI_Win_wait, exposed, (win), free_window)
  rows.push_back({"MPI_Win_test", exposed, [] { test_window(); }, free_window});
  ROW(MPI_Win_sync, lock_window, (win), unlock_window)
}

Window window;

void begin() {
  static char buffer[4096];
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  const int size = 1, wraps = 1;
  MPI_Cart_create(self, 1, &size, &wraps, 0, &ring);
  MPI_Buffer_attach(buffer, sizeof buffer);
  make(window);
}

void end() {
  void* buffer;
  int bytes_of_it;
  unmake(window);
  MPI_Buffer_detach(&buffer, &bytes_of_it);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&self);
}

}  // namespace
}  // namespace releases

int main(int argc, char** argv) {
  using namespace releases;
  Rows rows;
  add_messages(rows);
  add_parts(rows);
  add_windows(rows);
  add_collectives(rows);
  add_files(rows);
  std::vector<check::Case> cases = {{"begin", begin}};
  for (const Row& row : rows) cases.push_back({row.symbol, [row] { run(row, window); }});
  cases.push_back({"end", end});
  return check::run(argc, argv, 2, cases);
}
