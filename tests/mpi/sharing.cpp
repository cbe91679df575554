// One cache for the ranks of a node (option share): who is served what another rank fetched. Run
// with NEARCACHE_SHARE=node or none. With NEARCACHE_SHARE_NODES=2 the even ranks are one node, and
// the odd ones another. With --threads several threads of each rank use a window at the same time.
// With the argument `spawn`, a job spawned by the ranks does the same at the same time; with
// `addresses` there are hundreds of windows.
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

int nodes() {
  const char* text = std::getenv("NEARCACHE_SHARE_NODES");
  return text == nullptr ? 1 : std::atoi(text);
}

// The default where there are several nodes.
bool shares() {
  const char* text = std::getenv("NEARCACHE_SHARE");
  const std::string share = text == nullptr ? "auto" : text;
  return check::cached() && (share == "node" || (share == "auto" && nodes() > 1));
}

// Returns the ranks of this rank's node, in order.
std::vector<int> neighbours() {
  std::vector<int> ranks;
  for (int rank = check::rank % nodes(); rank < check::ranks; rank += nodes())
    ranks.push_back(rank);
  return ranks;
}
int place() { return check::rank / nodes(); }
// Returns a rank that does not read: the last.
int target() { return check::ranks - 1; }
bool reads() { return check::rank != target(); }

constexpr int words = 4096;

class Window {
 public:
  explicit Window(const char* mode, const char* share = nullptr) {
    MPI_Info info = check::info("nearcache_mode", mode);
    MPI_Info_set(info, "nearcache_skip_cheap", "false");
    if (share != nullptr) MPI_Info_set(info, "nearcache_share", share);
    MPI_Win_allocate(words * sizeof(int64_t), sizeof(int64_t), info, check::world, &memory, &win);
    MPI_Info_free(&info);
    MPI_Win_lock_all(0, win);
    for (int at = 0; at < words; at++) memory[at] = at;
    MPI_Win_sync(win);
    check::hidden_barrier();
  }
  ~Window() {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
  }
  // The owner stores without notifying others through MPI.
  void store(int at, int64_t value) {
    check::hidden_barrier();
    if (check::rank == target()) memory[at] = value;
    MPI_Win_sync(win);
    check::hidden_barrier();
  }
  int64_t read(int at, int count = 1) {
    std::vector<int64_t> got(static_cast<size_t>(count), -1);
    MPI_Get(got.data(), count, MPI_INT64_T, target(), at, count, MPI_INT64_T, win);
    MPI_Win_flush(target(), win);
    for (int i = 1; i < count; i++) check::expect(got[i] == at + i, "a word of elsewhere");
    return got[0];
  }
  void write(int at, int64_t value) {
    MPI_Put(&value, 1, MPI_INT64_T, target(), at, 1, MPI_INT64_T, win);
    MPI_Win_flush(target(), win);
  }
  uint64_t hits_of_others() { return check::stats(win).hits_shared; }
  uint64_t hits() { return check::stats(win).hits_full; }

  int64_t* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

// `first` runs on the first rank of each node, then `others` on its other ranks.
template <class First, class Others>
void in_turn(int first, First does_first, Others do_then) {
  check::hidden_barrier();
  if (reads() && place() == first) does_first();
  check::hidden_barrier();
  if (reads() && place() != first) do_then();
  check::hidden_barrier();
}

void what_one_fetched_serves_the_others_of_its_node() {
  for (const char* mode : {"always", "user"}) {
    Window window(mode);
    in_turn(
        0, [&] { EXPECT_EQ(window.read(7, 20), 7); },
        [&] {
          EXPECT_EQ(window.read(7, 20), 7);
          EXPECT_EQ(window.hits_of_others(), shares() ? 1 : 0);
        });
  }
}

void other_nodes_are_not_served() {
  if (nodes() == 1) return check::skip("one node");
  Window window("always");
  check::hidden_barrier();
  if (check::rank == 0) window.read(100);
  check::hidden_barrier();
  if (reads() && check::rank % nodes() != 0 && place() == 0) {
    window.read(100);
    EXPECT_EQ(window.hits(), 0);
  }
  check::hidden_barrier();
}

void who_invalidates_does_not_see_what_others_fetched_before() {
  Window window("user");
  in_turn(
      0, [&] { EXPECT_EQ(window.read(3), 3); }, [] {});
  window.store(3, 333);
  in_turn(
      0, [] {},
      [&] {
        if (place() == 1 && check::cached()) nearcache_invalidate(window.win);
        const int64_t got = window.read(3);
        if (place() == 1 || !check::cached()) EXPECT_EQ(got, 333);
      });
  // the first rank did not: it may be served what it read before, or newer data
  in_turn(
      0,
      [&] {
        const int64_t got = window.read(3);
        EXPECT(got == 3 || got == 333);
      },
      [] {});
}

// A get fetches the owner's old value, and is stored when others must not see that value any more.
void a_get_that_was_under_way_when_another_invalidated_is_not_for_it() {
  Window window("user");
  for (int at = 600; at < 620; at++) {
    int64_t got = -1;
    if (reads() && place() == 0)
      MPI_Get(&got, 1, MPI_INT64_T, target(), at, 1, MPI_INT64_T, window.win);
    window.store(at, -at);
    if (reads() && place() == 1 && check::cached()) nearcache_invalidate(window.win);
    in_turn(
        0,
        [&] {
          MPI_Win_flush(target(), window.win);
          EXPECT(got == at || got == -at);
        },
        [&] {
          if (place() == 1) EXPECT_EQ(window.read(at), -at);
        });
  }
}

void own_memory_is_never_what_others_have_fetched() {
  for (const char* mode : {"always", "user", "transparent", "coherent"}) {
    Window window(mode);
    for (int round = 0; round < 10; round++) {  // transparent keeps nothing at first
      in_turn(
          0, [&] { window.read(7); }, [&] { window.read(7); });
      if (check::rank == target()) {
        int64_t got = -1;  // from another rank, so that there is a cache
        MPI_Get(&got, 1, MPI_INT64_T, 0, 7, 1, MPI_INT64_T, window.win);
        MPI_Win_flush(0, window.win);
        for (int64_t value = 1; value < 4; value++) {
          window.memory[7] = value;
          EXPECT_EQ(window.read(7), value);
        }
        window.memory[7] = 7;
      }
      check::hidden_barrier();
    }
  }
}

void what_was_fetched_after_an_invalidation_serves_who_invalidated_before() {
  if (check::ranks / nodes() < 3) return check::skip("too few ranks of a node");
  Window window("user");
  if (reads() && check::cached()) nearcache_invalidate(window.win);
  in_turn(
      0, [&] { window.read(50); },
      [&] {
        window.read(50);
        EXPECT_EQ(window.hits_of_others(), shares() ? 1 : 0);
      });
}

void own_puts_are_seen_at_once_whoever_fetched() {
  for (const char* mode : {"always", "user", "coherent"}) {
    Window window(mode);
    in_turn(
        0, [&] { EXPECT_EQ(window.read(9), 9); }, [] {});
    for (int round = 1; round <= 6; round++) {
      in_turn(
          0, [] {},
          [&] {
            if (place() != 1) return;
            window.write(9 + 8 * check::rank, 1000 * round + check::rank);
            EXPECT_EQ(window.read(9 + 8 * check::rank), 1000 * round + check::rank);
          });
      // others fetch the data before and after
      in_turn(
          1, [] {}, [&] { window.read(9 + 8 * check::rank); });
      in_turn(
          0,
          [&] {
            for (int rank : neighbours()) window.read(9 + 8 * rank);
          },
          [&] {
            if (place() == 1)
              EXPECT_EQ(window.read(9 + 8 * check::rank), 1000 * round + check::rank);
          });
    }
  }
}

void puts_before_the_first_get_are_seen() {
  Window window("always");
  in_turn(
      0, [&] { EXPECT_EQ(window.read(9), 9); }, [] {});
  in_turn(
      0, [] {},
      [&] {
        if (place() != 1) return;
        window.write(9, 99);
        EXPECT_EQ(window.read(9), 99);
      });
}

// The writes of a pausing window are not noted individually.
void many_puts_in_a_row_are_seen() {
  Window window("always");
  in_turn(
      0,
      [&] {
        for (int at = 0; at < 400; at++) EXPECT_EQ(window.read(at), at);
      },
      [] {});
  in_turn(
      0, [] {},
      [&] {
        if (place() != 1) return;
        window.read(401);
        for (int64_t at = 0; at < 300; at++) {
          const int64_t value = -at;
          MPI_Put(&value, 1, MPI_INT64_T, target(), at, 1, MPI_INT64_T, window.win);
          MPI_Win_flush(target(), window.win);
        }
        for (int at = 0; at < 300; at++) EXPECT_EQ(window.read(at), -at);
        EXPECT_EQ(window.read(350), 350);
      });
}

// The end of its epoch tells that a put has left. Another rank then fetches the word (as the word's
// neighbour, for instance) before the put arrives: here the target imitates what a network may do.
void a_put_that_arrives_after_its_epoch_is_seen() {
  if (nodes() != 1 || check::ranks < 3) return check::skip("too few ranks of a node");
  Window window("always");
  in_turn(
      0, [&] { window.read(600); }, [] {});
  MPI_Win_unlock_all(window.win);
  MPI_Group all, readers, owner;
  const int last = target();
  MPI_Comm_group(check::world, &all);
  MPI_Group_excl(all, 1, &last, &readers);
  MPI_Group_incl(all, 1, &last, &owner);
  const auto epoch = [&](const std::function<void()>& first, const std::function<void()>& then,
                         const std::function<void(int)>& arrival) {
    reads() ? MPI_Win_start(owner, 0, window.win) : MPI_Win_post(readers, 0, window.win);
    if (check::rank == 0) first(), MPI_Win_complete(window.win);
    check::hidden_barrier();
    if (!reads()) arrival(0);
    check::hidden_barrier();
    if (check::rank == 1) then();
    if (reads() && check::rank != 0) MPI_Win_complete(window.win);
    check::hidden_barrier();
    if (!reads()) arrival(1), MPI_Win_wait(window.win);
    check::hidden_barrier();
  };
  const int64_t value = 99;
  int64_t of_other[4], got = -1;
  epoch([&] { MPI_Put(&value, 1, MPI_INT64_T, last, 9, 1, MPI_INT64_T, window.win); },
        [&] { MPI_Get(of_other, 4, MPI_INT64_T, last, 8, 4, MPI_INT64_T, window.win); },
        [&](int has_come) { window.memory[9] = has_come != 0 ? value : 9; });
  epoch([&] { MPI_Get(&got, 1, MPI_INT64_T, last, 9, 1, MPI_INT64_T, window.win); }, [] {},
        [](int) {});
  if (check::rank == 0) EXPECT_EQ(got, value);
  for (MPI_Group* group : {&all, &readers, &owner}) MPI_Group_free(group);
  MPI_Win_lock_all(0, window.win);
}

void derived_types_are_the_same_on_all_ranks() {
  Window window("always");
  MPI_Datatype other, every_other, every_third;
  if (check::rank % 2 == 0) {  // numbered in another order
    MPI_Type_vector(5, 1, 7, MPI_INT64_T, &other);
    MPI_Type_commit(&other);
  }
  MPI_Type_vector(8, 1, 2, MPI_INT64_T, &every_other);
  MPI_Type_commit(&every_other);
  MPI_Type_vector(8, 1, 3, MPI_INT64_T, &every_third);
  MPI_Type_commit(&every_third);
  const auto get = [&](MPI_Datatype type, int stride) {
    int64_t got[8] = {};
    MPI_Get(got, 8, MPI_INT64_T, target(), 16, 1, type, window.win);
    MPI_Win_flush(target(), window.win);
    for (int i = 0; i < 8; i++) EXPECT_EQ(got[i], 16 + i * stride);
  };
  in_turn(
      0, [&] { get(every_other, 2); },
      [&] {
        get(every_third, 3);
        get(every_other, 2);
        EXPECT(!shares() || window.hits_of_others() >= 1);
      });
  if (check::rank % 2 == 0) MPI_Type_free(&other);
  MPI_Type_free(&every_other);
  MPI_Type_free(&every_third);
}

void gets_of_parts_of_what_others_fetched_are_served() {
  Window window("always");
  in_turn(
      0, [&] { window.read(512, 64); },
      [&] {
        EXPECT_EQ(window.read(512 + 17), 512 + 17);
        EXPECT_EQ(window.hits_of_others(), shares() ? 1 : 0);
      });
}

void acquires_end_what_others_fetched_before() {
  for (const char* mode : {"transparent", "coherent"}) {
    Window window(mode);
    for (int round = 1; round <= 20; round++) {
      // all readers read, so that there are phases without writes
      if (reads()) {
        for (int at = 0; at < 32; at++) {
          const int64_t got = window.read(at);
          EXPECT_EQ(got, round == 1 ? at : 100 * (round - 1) + at);
          window.read(at);
        }
      }
      MPI_Barrier(check::world);
      if (check::rank == target()) {
        for (int at = 0; at < 32; at++) window.memory[at] = 100 * round + at;
      }
      MPI_Win_sync(window.win);
      MPI_Barrier(check::world);
    }
  }
}

// One epoch sees all of another rank's exclusive one, or nothing, also by what somebody else has
// fetched. Over an MPI that takes locks late: else the writer waits for the reader.
void an_exclusive_epoch_after_what_another_rank_fetched() {
  if (dlsym(RTLD_DEFAULT, "lazy_mpi_failing") == nullptr) return check::skip("locks come at once");
  constexpr int reader = 0, other = 1, writer = 2, place = 600, far_place = 2000;
  Window settled("transparent");
  for (int round = 0; round < 10; round++) {
    for (int turn = 0; reads() && turn < 4; turn++) settled.read(7);
    MPI_Barrier(check::world);
  }
  Window window("transparent");  // nothing of it is cached yet, so its locks go down at once
  MPI_Win_unlock_all(window.win);
  const auto get = [&](int64_t* to, int at) {
    MPI_Get(to, 1, MPI_INT64_T, target(), at, 1, MPI_INT64_T, window.win);
  };
  int64_t begun = -1, first = -1, then = -1;
  if (check::rank == reader) {
    MPI_Win_lock(MPI_LOCK_SHARED, target(), 0, window.win);
    get(&begun, 3000);
  }
  check::hidden_barrier();
  if (check::rank == other) {
    MPI_Win_lock(MPI_LOCK_SHARED, target(), 0, window.win);
    get(&first, place);
    MPI_Win_unlock(target(), window.win);
    EXPECT_EQ(first, place);
  }
  check::hidden_barrier();
  if (check::rank == reader) get(&first, place);
  check::hidden_barrier();
  if (check::rank == writer) {
    const int64_t value = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target(), 0, window.win);
    for (const int at : {place, far_place})
      MPI_Put(&value, 1, MPI_INT64_T, target(), at, 1, MPI_INT64_T, window.win);
    MPI_Win_unlock(target(), window.win);
  }
  check::hidden_barrier();
  if (check::rank == reader) {
    get(&then, far_place);
    MPI_Win_unlock(target(), window.win);
    EXPECT_EQ(begun, 3000);
    EXPECT_EQ(first == place, then == far_place);
  }
  check::hidden_barrier();
  MPI_Win_lock_all(0, window.win);
}

void a_rank_that_is_off_takes_no_part() {
  Window window(check::rank == 0 ? "off" : "always");
  in_turn(
      0, [&] { window.read(5); },
      [&] {
        if (place() != 1) return;  // one rank per node: others would have what it fetches
        window.read(5);
        if (check::rank % nodes() == 0) EXPECT_EQ(window.hits_of_others(), 0);
      });
}

void ranks_may_have_caches_of_their_own() {
  Window window("always", "off");
  in_turn(
      0, [&] { window.read(5); },
      [&] {
        window.read(5);
        EXPECT_EQ(window.hits(), 0);
        EXPECT_EQ(window.read(5), 5);
        EXPECT_EQ(window.hits(), check::cached() ? 1 : 0);
      });
}

void modes_may_be_changed_on_the_way() {
  Window window("always");
  in_turn(
      0, [&] { EXPECT_EQ(window.read(3), 3); }, [] {});
  in_turn(
      0, [] {},
      [&] {
        if (place() != 1 || !check::cached()) return;
        nearcache_set_mode(window.win, NEARCACHE_MODE_OFF);
        window.write(3, 30);
        nearcache_set_mode(window.win, NEARCACHE_MODE_ALWAYS);
        EXPECT_EQ(window.read(3), 30);
      });
}

// Forked children have their rank's memory, but are not ranks.
void processes_that_a_rank_forks_take_no_part() {
  Window window("always");
  in_turn(
      0, [&] { EXPECT_EQ(window.read(7), 7); }, [] {});
  const auto fork_some = [&] {
    for (int at = 0; at < 4; at++) {
      const pid_t child = fork();
      if (child == 0 && at % 2 == 0) execl("/bin/true", "true", nullptr);
      if (child == 0) _exit(0);
      window.read(100 + at);  // while the child exists
      int status = -1;
      EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    }
  };
  in_turn(0, fork_some, fork_some);
  in_turn(
      0, [] {},
      [&] {
        const uint64_t before = window.hits_of_others();
        EXPECT_EQ(window.read(7), 7);
        if (shares()) EXPECT_EQ(window.hits_of_others(), before + 1);
      });
}

// All threads read the same words; each writes words of its own and reads them back.
void threads_read_and_write_at_once() {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return check::skip("one thread");
  constexpr int threads = 3, rounds = 300, common = 1024, own = 16;
  for (const char* mode : {"always", "user", "coherent"}) {
    Window window(mode);
    std::atomic<int> wrong = 0;
    const auto work = [&](int thread) {
      std::mt19937 random(static_cast<unsigned>(check::rank * threads + thread));
      const int mine = common + (check::rank * threads + thread) * own;
      std::vector<int64_t> written(own);
      for (int i = 0; i < own; i++) written[i] = mine + i;
      for (int round = 0; round < rounds; round++) {
        const int at = static_cast<int>(random() % (common - 16));
        const int count = 1 + static_cast<int>(random() % 16);
        int64_t got[16], back = -1;
        const size_t which = random() % own;
        if (random() % 4 == 0) {
          written[which] = -1000 * round - thread;
          MPI_Put(&written[which], 1, MPI_INT64_T, target(), mine + static_cast<int>(which), 1,
                  MPI_INT64_T, window.win);
          MPI_Win_flush(target(), window.win);
        }
        MPI_Get(got, count, MPI_INT64_T, target(), at, count, MPI_INT64_T, window.win);
        MPI_Get(&back, 1, MPI_INT64_T, target(), mine + static_cast<int>(which), 1, MPI_INT64_T,
                window.win);
        MPI_Win_flush(target(), window.win);
        for (int i = 0; i < count; i++) wrong += got[i] != at + i;
        wrong += back != written[which];
        if (round % 64 == 63 && check::cached()) nearcache_invalidate(window.win);
      }
    };
    check::hidden_barrier();
    std::vector<std::thread> running;
    for (int thread = 0; reads() && thread < threads; thread++) running.emplace_back(work, thread);
    for (std::thread& each : running) each.join();
    check::hidden_barrier();
    // Ranks that ran one after the other have invalidated what the ones before had fetched.
    const auto read_again = [&] {
      for (int at = 0; at < common; at += 16) wrong += window.read(at) != at;
    };
    for (std::thread& each : running) each = std::thread(read_again);
    for (std::thread& each : running) each.join();
    EXPECT_EQ(wrong.load(), 0);
    check::hidden_barrier();
    uint64_t hits = window.hits_of_others(), of_all = 0;
    MPI_Allreduce(&hits, &of_all, 1, MPI_UINT64_T, MPI_SUM, check::world);
    if (shares() && std::string(mode) == "always") EXPECT(of_all > 0);
  }
}

// Like check::hidden_barrier, also with the job that spawned this one or was spawned by it.
void meet(MPI_Comm others) {
  MPI_Request request;
  HIDDEN(MPI_Ibarrier)(others, &request);
  for (int done = 0; HIDDEN(MPI_Test)(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    usleep(20);
}

std::string program;

// With a large NEARCACHE_MAX_STORAGE: a region reserves addresses for everything that its ranks may
// keep.
void windows_by_the_hundred_leave_addresses_for_others() {
  if (!check::listed(check::rest, "addresses")) return check::skip("not asked for");
  std::vector<std::unique_ptr<Window>> windows;
  for (int count = 0; count < 100; count++) windows.push_back(std::make_unique<Window>("always"));
  in_turn(
      0, [&] { EXPECT_EQ(windows.back()->read(7), 7); },
      [&] {
        EXPECT_EQ(windows.back()->read(7), 7);
        if (shares()) EXPECT_EQ(windows.back()->hits_of_others(), 1);
      });
  constexpr size_t much = size_t{1} << 44;
  void* const at = mmap(nullptr, much, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check::expect(at != MAP_FAILED, "an eighth of all addresses are left");
  if (at != MAP_FAILED) munmap(at, much);
}

// The spawned job's ranks share a cache, as this job's do; neither job is served what the other
// fetched.
void a_spawned_job_has_a_cache_of_its_own() {
  if (!check::listed(check::rest, "spawn")) return check::skip("nothing is spawned");
  Window window("always");
  in_turn(
      0, [&] { EXPECT_EQ(window.read(7), 7); }, [] {});
  std::vector<std::string> words;
  for (const char* name : {"LD_PRELOAD", "NEARCACHE_SHARE", "MPIR_CVAR_POLLS_BEFORE_YIELD"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) words.push_back(std::string(name) + "=" + value);
  }
  words.push_back(program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  MPI_Comm job;
  char env[] = "/usr/bin/env";
  MPI_Comm_spawn(env, arguments.data(), 4, MPI_INFO_NULL, 0, check::world, &job,
                 MPI_ERRCODES_IGNORE);
  meet(job);
  in_turn(
      0, [] {},
      [&] {
        EXPECT_EQ(window.read(7), 7);
        if (shares()) EXPECT_EQ(window.hits_of_others(), 1);
      });
  MPI_Comm_disconnect(&job);
}

// The last case: the job that spawned this one waits for it.
void being_spawned_ends() {
  MPI_Comm parents;
  MPI_Comm_get_parent(&parents);
  if (parents == MPI_COMM_NULL) return check::skip("nobody spawned this job");
  meet(parents);
  MPI_Comm_disconnect(&parents);
}

}  // namespace

int main(int argc, char** argv) {
  program = argv[0];
#define CASE(name) \
  { #name, name }
  return check::run(argc, argv, 4,
                    {CASE(what_one_fetched_serves_the_others_of_its_node),
                     CASE(other_nodes_are_not_served),
                     CASE(who_invalidates_does_not_see_what_others_fetched_before),
                     CASE(a_get_that_was_under_way_when_another_invalidated_is_not_for_it),
                     CASE(own_memory_is_never_what_others_have_fetched),
                     CASE(what_was_fetched_after_an_invalidation_serves_who_invalidated_before),
                     CASE(own_puts_are_seen_at_once_whoever_fetched),
                     CASE(puts_before_the_first_get_are_seen),
                     CASE(many_puts_in_a_row_are_seen),
                     CASE(a_put_that_arrives_after_its_epoch_is_seen),
                     CASE(derived_types_are_the_same_on_all_ranks),
                     CASE(gets_of_parts_of_what_others_fetched_are_served),
                     CASE(acquires_end_what_others_fetched_before),
                     CASE(an_exclusive_epoch_after_what_another_rank_fetched),
                     CASE(a_rank_that_is_off_takes_no_part),
                     CASE(ranks_may_have_caches_of_their_own),
                     CASE(modes_may_be_changed_on_the_way),
                     CASE(processes_that_a_rank_forks_take_no_part),
                     CASE(threads_read_and_write_at_once),
                     CASE(windows_by_the_hundred_leave_addresses_for_others),
                     CASE(a_spawned_job_has_a_cache_of_its_own),
                     CASE(being_spawned_ends)});
}
