// Jobs that are not one program on one MPI_COMM_WORLD: several programs, a spawned one, sessions,
// thread levels raised late, forks, ways to end. The first argument selects one; each rank prints
// `ok WHAT rank R hits H`, or FAILED.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "nearcache/mpi.h"
#include "shim.h"

#pragma weak nearcache_get_stats

namespace {

constexpr int count = 16;

const char* what = "";
int failures = 0;

void expect(bool good, const char* text) {
  if (good) return;
  ++failures;
  std::printf("FAILED %s: %s\n", what, text);
  std::fflush(stdout);
}

nearcache_stats stats(MPI_Win win) {
  nearcache_stats result{};
  result.size = sizeof result;
  if (nearcache_get_stats != nullptr) nearcache_get_stats(win, &result);
  return result;
}

// A window of words on `comm`; each rank reads its neighbour's `rounds` times.
class Words {
 public:
  explicit Words(MPI_Comm comm, const char* mode = "always") {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &ranks_);
    for (int i = 0; i < count; ++i) memory_[i] = 100 * rank_ + i;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nearcache_mode", mode);
    MPI_Win_create(memory_, sizeof memory_, sizeof *memory_, info, comm, &win_);
    MPI_Info_free(&info);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win_);
  }
  void read(int rounds) {
    const int target = (rank_ + 1) % ranks_;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < count; ++i) {
        int64_t got = -1;
        MPI_Get(&got, 1, MPI_INT64_T, target, i, 1, MPI_INT64_T, win_);
        MPI_Win_flush(target, win_);
        if (got != 100 * target + i) expect(false, "a wrong value");
      }
    }
  }
  nearcache_stats end(MPI_Comm comm) {
    const nearcache_stats result = stats(win_);
    MPI_Barrier(comm);
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
    return result;
  }
  MPI_Win win() const { return win_; }

 private:
  int rank_ = 0, ranks_ = 1;
  int64_t memory_[count];
  MPI_Win win_;
};

void tell(int rank, unsigned long long hits) {
  if (failures == 0) std::printf("ok %s rank %d hits %llu\n", what, rank, hits);
  std::fflush(stdout);
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void read_in_world() {
  Words words(MPI_COMM_WORLD);
  words.read(10);
  tell(world_rank(), words.end(MPI_COMM_WORLD).hits_full);
}

// Two halves of the job have their own windows; none spans both.
void read_in_halves() {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() / 2, 0, &half);
  Words words(half);
  words.read(10);
  tell(world_rank(), words.end(half).hits_full);
  MPI_Comm_free(&half);
}

// Rank 0 is in every ordered group of three, others are in fewer: not all have room for one more
// group.
void read_in_many_groups() {
  const int me = world_rank();
  for (int left_out = 1; left_out < 4; ++left_out) {
    int order[3];
    for (int i = 0, rank = 0; rank < 4; ++rank) {
      if (rank != left_out) order[i++] = rank;
    }
    do {
      const auto* mine = std::find(order, order + 3, me);
      MPI_Comm group;
      MPI_Comm_split(MPI_COMM_WORLD, mine == order + 3 ? MPI_UNDEFINED : 0,
                     static_cast<int>(mine - order), &group);
      if (group == MPI_COMM_NULL) continue;
      Words words(group);
      words.read(2);
      words.end(group);
      MPI_Comm_free(&group);
    } while (std::next_permutation(order, order + 3));
  }
  read_in_world();
}

// The child runs without Nearcache. After the merged communicator, the parents' own communicator is
// cached as before.
void read_with_a_child(char* program) {
  MPI_Comm children, all;
  char way[] = "child";
  char* arguments[] = {way, nullptr};
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                 MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(children, 0, &all);
  Words shared(all);
  shared.read(3);
  expect(shared.end(all).hits_full == 0, "a window that reaches into another job is cached");
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&children);
}

void read_beyond_the_world(char* program) {
  read_with_a_child(program);
  read_in_world();
}

// The child would tell no reader of its writes.
void read_quietly_before_and_after_a_child(char* program) {
  Words words(MPI_COMM_WORLD, "transparent");
  words.read(3);
  const uint64_t hits = stats(words.win()).hits_full;
  expect(hits > 0 || nearcache_get_stats == nullptr, "there is no quiet phase");
  read_with_a_child(program);
  words.read(3);
  expect(words.end(MPI_COMM_WORLD).hits_full == hits, "there is a quiet phase");
  tell(world_rank(), hits);
}

void be_a_child() {
  MPI_Comm parents, all;
  MPI_Comm_get_parent(&parents);
  MPI_Intercomm_merge(parents, 1, &all);
  Words shared(all);
  shared.read(3);
  shared.end(all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parents);
}

#if MPI_VERSION >= 4
// Two threads read from the cache; if they took no locks, counts would be lost.
void read_in_threads(Words* words, MPI_Comm comm, int rank) {
  constexpr int rounds = 20000;
  words->read(1);
  const auto before = stats(words->win()).gets;
  const auto read = [&] {
    for (int round = 0; round < rounds; ++round) {
      int64_t got = -1;
      MPI_Get(&got, 1, MPI_INT64_T, 1 - rank, round % count, 1, MPI_INT64_T, words->win());
      if (got != 100 * (1 - rank) + round % count) expect(false, "a wrong value in a thread");
    }
  };
  std::thread other(read);
  read();
  other.join();
  const nearcache_stats after = words->end(comm);
  if (nearcache_get_stats != nullptr)
    expect(after.gets - before == 2 * rounds, "two threads have lost counts: they take no locks");
  tell(rank, after.hits_full);
}

MPI_Session begin_session(const char* threads) {
  MPI_Session session;
  MPI_Info info = MPI_INFO_NULL;
  if (threads != nullptr) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", threads);
  }
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return session;
}

MPI_Comm all_of(MPI_Session session, const char* name) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

// No MPI_Init: flushes are still served and reports written; also in a second session.
void read_in_sessions() {
  for (const char* name : {"first", "second"}) {
    MPI_Session session = begin_session(nullptr);
    MPI_Comm comm = all_of(session, name);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    Words words(comm);
    words.read(10);
    const nearcache_stats ended = words.end(comm);
    if (nearcache_get_stats != nullptr)
      expect(ended.syncs_served > 0, "flushes of a session's window are not served");
    tell(rank, ended.hits_full);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
}

int deleted = 0;  // attributes of the program's own
int their_delete(MPI_Win, int, void* value, void*) {
  expect(value == &deleted, "a keyval of the program has our attribute");
  ++deleted;
  return MPI_SUCCESS;
}
int their_delete_of_comm(MPI_Comm, int, void*, void*) {
  expect(false, "a communicator has an attribute that the program never set");
  return MPI_SUCCESS;
}

// MPI may end with the last session, and give later keyvals the handles of earlier ones.
void make_keyvals_in_sessions() {
  for (const char* name : {"first", "second"}) {
    MPI_Session session = begin_session(nullptr);
    MPI_Comm comm = all_of(session, name);
    int rank = 0, keyvals[6], of_comm[3];
    MPI_Comm_rank(comm, &rank);
    const bool second = std::strcmp(name, "second") == 0;
    for (int& keyval : of_comm)
      if (second)
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, their_delete_of_comm, &keyval, nullptr);
    for (int& keyval : keyvals)
      if (second) MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, their_delete, &keyval, nullptr);
    {
      Words words(comm);
      words.read(10);
      for (const int keyval : keyvals) {
        void* value = nullptr;
        int found = 0;
        if (!second) continue;
        MPI_Win_get_attr(words.win(), keyval, &value, &found);
        expect(found == 0, "a new keyval of the program has a value");
        MPI_Win_set_attr(words.win(), keyval, &deleted);
      }
      tell(rank, words.end(comm).hits_full);
    }
    expect(deleted == (second ? 6 : 0), "attributes were not deleted along with the window");
    MPI_Comm_free(&comm);
    for (int& keyval : of_comm)
      if (second) MPI_Comm_free_keyval(&keyval);
    for (int& keyval : keyvals)
      if (second) MPI_Win_free_keyval(&keyval);
    MPI_Session_finalize(&session);
  }
}

// The only session continues after an MPI_Session_finalize that failed, and ends with the next one.
// Nearcache may have a session of its own, whose end fails first.
void end_a_session_twice() {
  MPI_Session session = begin_session(nullptr);
  MPI_Comm comm = all_of(session, "windows");
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Words words(comm);
  words.read(10);
  shim("shim_fail", "MPI_Session_finalize", nearcache_get_stats != nullptr ? 2 : 1);
  expect(MPI_Session_finalize(&session) != MPI_SUCCESS, "MPI_Session_finalize does not fail");
  shim("shim_fail", "MPI_Session_finalize", 0);
  words.read(10);
  tell(rank, words.end(comm).hits_full);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

void threads_by_a_session() {
  MPI_Init(nullptr, nullptr);
  {
    Words words(MPI_COMM_WORLD);
    MPI_Session session = begin_session("MPI_THREAD_MULTIPLE");
    read_in_threads(&words, MPI_COMM_WORLD, world_rank());
    MPI_Session_finalize(&session);
  }
  MPI_Finalize();
}

// MPI_Finalize ends neither a session nor its windows: rank 1 is read while it waits in the host.
void read_in_a_session_that_is_left() {
  MPI_Init(nullptr, nullptr);
  MPI_Session session = begin_session(nullptr);
  MPI_Comm comm = all_of(session, "windows");
  const int rank = world_rank();
  Words of_world(MPI_COMM_WORLD);
  Words words(comm);
  of_world.end(MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) words.read(10);
  tell(rank, words.end(comm).hits_full);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

void threads_after_a_session() {
  MPI_Session session = begin_session("MPI_THREAD_SINGLE");
  MPI_Comm comm = all_of(session, "windows");
  int rank = 0, provided = 0;
  MPI_Comm_rank(comm, &rank);
  {
    Words words(comm);
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) {
      read_in_threads(&words, comm, rank);
    } else {
      words.end(comm);
      std::printf("skipped %s: thread level %d\n", what, provided);
    }
  }
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  MPI_Finalize();
}
#endif

// While the first window is made, rank 1 is stopped for longer than others wait for it. All ranks
// then agree to leave windows on that communicator uncached; windows on other communicators are
// cached.
void read_with_a_late_rank() {
  shim("shim_late", world_rank() == 1 ? 11U : 0U);
  for (int window = 0; window < 3; ++window) {
    Words words(MPI_COMM_WORLD);
    words.read(3);
    expect(words.end(MPI_COMM_WORLD).hits_full == 0, "a window is cached at some of its ranks");
  }
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  Words words(other);
  words.read(10);
  tell(world_rank(), words.end(other).hits_full);
  MPI_Comm_free(&other);
}

// Used by a library below Nearcache that ends after it, when Nearcache's statics have been
// destroyed.
Words* late_words;

void read_at_the_very_end() {
  late_words->read(9);
  tell(world_rank(), late_words->end(MPI_COMM_WORLD).hits_full);
  MPI_Finalize();
}

// MPI_Finalize first deletes the attributes of MPI_COMM_SELF; their callbacks may call anything.
int read_as_mpi_ends(MPI_Comm, int, void*, void*) {
  Words words(MPI_COMM_WORLD);
  words.read(10);
  tell(world_rank(), words.end(MPI_COMM_WORLD).hits_full);
  return MPI_SUCCESS;
}

void end_with_a_window() {
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, read_as_mpi_ends, &keyval, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  Words words(MPI_COMM_WORLD);
  words.read(3);
  words.end(MPI_COMM_WORLD);
}

// A child that calls exit() also runs the library's exit handlers, without its threads.
void fork_and_read() {
  Words words(MPI_COMM_WORLD);
  words.read(1);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  for (int tenths = 0; tenths < 100 && child > 0; ++tenths) {
    if (waitpid(child, nullptr, WNOHANG) == child) break;
    usleep(100000);
    if (tenths == 99) expect(false, "the forked child does not end");
  }
  words.read(9);
  tell(world_rank(), words.end(MPI_COMM_WORLD).hits_full);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  what = argc > 1 ? argv[1] : "";
#if MPI_VERSION >= 4
  if (way == "sessions") read_in_sessions();
  if (way == "session_keyvals") make_keyvals_in_sessions();
  if (way == "failed_end") end_a_session_twice();
  if (way == "session_threads") threads_by_a_session();
  if (way == "late_threads") threads_after_a_session();
  if (way == "session_left") read_in_a_session_that_is_left();
#endif
  for (const char* own : {"sessions", "session_keyvals", "failed_end", "session_threads",
                          "late_threads", "session_left"})
    if (way == own) return failures > 0;
  MPI_Init(&argc, &argv);
  if (way == "window") read_in_world();
  if (way == "halves") read_in_halves();
  if (way == "many_groups") read_in_many_groups();
  if (way == "beyond") read_beyond_the_world(argv[0]);
  if (way == "quiet_beyond") read_quietly_before_and_after_a_child(argv[0]);
  if (way == "child") be_a_child();
  if (way == "end") end_with_a_window();
  if (way == "late") read_with_a_late_rank();
  if (way == "fork") fork_and_read();
  if (way == "nothing") tell(world_rank(), 0);
  if (way == "very_end") {
    static Words words(MPI_COMM_WORLD);
    words.read(1);
    late_words = &words;
    *static_cast<void (**)()>(dlsym(RTLD_DEFAULT, "shim_at_end")) = read_at_the_very_end;
    return failures > 0;
  }
  MPI_Finalize();
  return failures > 0;
}
