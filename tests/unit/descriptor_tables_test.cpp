// A thread with a table of descriptors of its own, and a fabric that is used from two tables in
// turn, as by the program and the agent.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <semaphore>
#include <thread>
#include <vector>

#include "net/descriptor_tables.h"
#include "net/socket_fabric.h"
#include "numbered_batches.h"

namespace nearcache::net {
namespace TEST_FILE {

// A thread that does one thing at a time for the main thread, which waits for it.
class Other {
 public:
  Other() : thread_([this] { serve(); }) { done_.acquire(); }
  ~Other() {
    what_ = nullptr;
    begins_.release();
    thread_.join();
  }
  void run(const std::function<void()>& what) {
    what_ = &what;
    begins_.release();
    done_.acquire();
  }
  size_t descriptors() const { return numbers(thread_id_).size(); }
  static std::vector<int> numbers(long thread) {
    std::vector<int> all;
    const auto folder = "/proc/self/task/" + std::to_string(thread) + "/fd";
    for (const auto& each : std::filesystem::directory_iterator(folder))
      all.push_back(std::stoi(each.path().filename()));
    return all;
  }
  long thread_id() const { return thread_id_; }

 private:
  void serve() {
    thread_id_ = syscall(SYS_gettid);
    done_.release();
    for (;;) {
      begins_.acquire();
      if (what_ == nullptr) return;
      (*what_)();
      done_.release();
    }
  }

  long thread_id_ = 0;
  const std::function<void()>* what_ = nullptr;
  std::binary_semaphore begins_{0}, done_{0};
  std::thread thread_;
};

// Whether the kernel, and what watches over this process, allow a table for a thread.
bool possible() {
  DescriptorTables tables;
  Other other;
  bool parted = false;
  other.run([&] { parted = tables.part({}); });
  return parted;
}

struct DescriptorTablesTest : testing::Test {
  void SetUp() override {
    if (!possible()) GTEST_SKIP() << "threads cannot have tables of their own here";
  }
};

ino_t file_at(int descriptor) {
  struct stat found {};
  return fstat(descriptor, &found) == 0 ? found.st_ino : 0;
}

int some_file() { return memfd_create("test", MFD_CLOEXEC); }

TEST_F(DescriptorTablesTest, AThreadKeepsOnlyWhatItNeedsUnderTheSameNumbers) {
  Other other;
  DescriptorTables tables;
  const int kept = some_file(), other_file = some_file();
  ino_t of_kept = 0, of_other = 1;
  other.run([&] {
    EXPECT_TRUE(tables.part({{kept, -1}}));
    of_kept = file_at(kept), of_other = file_at(other_file);
  });
  EXPECT_TRUE(tables.parted());
  EXPECT_EQ(of_kept, file_at(kept));
  EXPECT_EQ(of_other, 0u);
  EXPECT_EQ(other.descriptors(), 3u);  // and the two tables'
  EXPECT_NE(file_at(other_file), 0u);
  close(kept), close(other_file);
}

TEST_F(DescriptorTablesTest, NobodyElseKeepsWhatTheProgramClosesOpen) {
  int pipe_before[2], pipe_after[2];
  ASSERT_EQ(pipe(pipe_before), 0);
  Other other;
  DescriptorTables tables;
  other.run([&] { tables.part({}); });
  ASSERT_EQ(pipe(pipe_after), 0);
  for (const auto& each : {pipe_before, pipe_after}) {
    close(each[1]);
    char byte;
    EXPECT_EQ(read(each[0], &byte, 1), 0);
    close(each[0]);
  }
}

TEST_F(DescriptorTablesTest, EachSideFetchesWhatTheOtherHas) {
  Other other;
  DescriptorTables tables;
  other.run([&] { tables.part({}); });
  const int ours = some_file();
  int theirs = -1;
  const ino_t of_ours = file_at(ours);
  ino_t of_theirs = 0;
  other.run([&] {
    EXPECT_TRUE(tables.here_is_agents());
    const int fetched = tables.fetch(ours);
    EXPECT_EQ(file_at(fetched), of_ours);
    EXPECT_EQ(fcntl(fetched, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    theirs = some_file();
    of_theirs = file_at(theirs);
    EXPECT_EQ(tables.fetch(1 << 20), -1);
  });
  EXPECT_FALSE(tables.here_is_agents());
  const int fetched = tables.fetch(theirs);
  EXPECT_EQ(file_at(fetched), of_theirs);
  close(fetched), close(ours);
}

// Of a child, whose first thread may end.
TEST_F(DescriptorTablesTest, TheFirstThreadOfTheProgramMayEnd) {
  const pid_t child = fork();
  if (child == 0) {
    std::binary_semaphore parted{0};
    std::thread([&parted, first = getpid()] {
      Other other;
      DescriptorTables tables;
      other.run([&] { tables.part({}); });
      parted.release();
      const auto state = "/proc/self/task/" + std::to_string(first) + "/stat";
      std::string line;
      while (line.find(") Z") == std::string::npos) std::getline(std::ifstream(state), line);
      const int file = some_file();
      ino_t of_fetched = 0;
      other.run([&] { of_fetched = file_at(tables.fetch(file)); });
      _exit(tables.parted() && of_fetched == file_at(file) ? 0 : 1);
    }).detach();
    parted.acquire();
    syscall(SYS_exit, 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(DescriptorTablesTest, EachSideSettlesOnce) {
  Other other;
  DescriptorTables tables;
  other.run([&] {
    tables.part({});
    EXPECT_TRUE(tables.must_settle());  // what there was before
    EXPECT_FALSE(tables.must_settle());
    tables.leave_to_other();
    EXPECT_FALSE(tables.must_settle());
  });
  EXPECT_TRUE(tables.must_settle());
  EXPECT_FALSE(tables.must_settle());
  tables.leave_to_other();
  EXPECT_FALSE(tables.must_settle());
  other.run([&] { EXPECT_TRUE(tables.must_settle()); });
  tables.leave_for_later();
  EXPECT_TRUE(tables.must_settle());
}

// Rank 0 is used by two threads with different tables, the others by the main thread.
struct Job {
  std::vector<std::unique_ptr<SocketFabric>> fabrics;
  std::vector<Listener> listeners;
  std::vector<std::map<int, uint64_t>> sent;
  DescriptorTables tables;
  Other agent;
  size_t kept_by_agent = 0, kept_by_program = 0;
  int set = epoll_create1(EPOLL_CLOEXEC);

  explicit Job(int ranks, const std::vector<int>& also_kept = {})
      : listeners(static_cast<size_t>(ranks)), sent(static_cast<size_t>(ranks)) {
    std::vector<SocketAddress> addresses;
    for (int rank = 0; rank < ranks; ++rank) {
      std::string wrong;
      fabrics.push_back(SocketFabric::open(rank, "lo", &wrong));
      EXPECT_EQ(wrong, "");
      addresses.push_back(fabrics.back()->address());
    }
    for (auto& each : fabrics) each->know({1, 2}, addresses);
    fabrics[0]->use_set(set);
    agent.run([&] {
      std::vector<int> kept{set, 0, 1, 2};  // failed checks write messages
      kept.insert(kept.end(), also_kept.begin(), also_kept.end());
      EXPECT_TRUE(fabrics[0]->use_tables(&tables, &kept) && tables.part(kept));
    });
    kept_by_agent = agent.descriptors();
    kept_by_program = Other::numbers(getpid()).size();
  }
  ~Job() {
    on_side(false, [&] {
      fabrics[0]->use_tables(nullptr, nullptr);
      fabrics[0]->use_set(-1);
    });
    close(set);
  }
  void on_side(bool agents, const std::function<void()>& what) {
    const auto settled = [&] {
      if (tables.must_settle()) fabrics[0]->settle();
      what();
    };
    if (agents)
      agent.run(settled);
    else
      settled();
  }
  void send(int from, int to, size_t bytes = 8, bool agents = false) {
    const auto batch = bytes_of(sent[static_cast<size_t>(from)][to]++, bytes);
    SocketFabric* const fabric = fabrics[static_cast<size_t>(from)].get();
    if (from == 0)
      on_side(agents, [&] { fabric->send(to, batch); });
    else
      fabric->send(to, batch);
  }
  void poll_first(bool agents) {
    on_side(agents, [&] { fabrics[0]->poll(listeners[0]); });
  }
  void poll_others() {
    for (size_t rank = 1; rank < fabrics.size(); ++rank)
      if (fabrics[rank] != nullptr) fabrics[rank]->poll(listeners[rank]);
  }
  bool arrived(int from, int to) {
    return listeners[static_cast<size_t>(to)].got[from] == sent[static_cast<size_t>(from)][to];
  }
  template <class Done>
  bool run(Done done, const std::function<bool()>& agents) {
    for (int turn = 0; turn < 20000; ++turn) {
      if (done()) return true;
      poll_first(agents());
      poll_others();
      if (turn > 100) usleep(50);
    }
    return done();
  }
  template <class Done>
  bool run(Done done, bool agents) {
    return run(done, [agents] { return agents; });
  }
};

TEST_F(DescriptorTablesTest, TheProgramAdoptsAConnectionOfTheAgent) {
  Job job(2);
  job.send(1, 0);
  ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
  EXPECT_EQ(job.agent.descriptors(), job.kept_by_agent + 1);
  job.send(0, 1);
  ASSERT_TRUE(job.run([&] { return job.arrived(0, 1); }, false));
  for (const bool agents : {true, false, true}) {
    job.send(1, 0), job.send(0, 1, 1 << 20, agents);
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0) && job.arrived(0, 1); }, agents));
  }
  EXPECT_EQ(job.agent.descriptors(), job.kept_by_agent + 1);
}

TEST_F(DescriptorTablesTest, TheAgentGetsAConnectionOfTheProgram) {
  Job job(2);
  job.send(0, 1);
  ASSERT_TRUE(job.run([&] { return job.arrived(0, 1); }, false));
  for (const bool agents : {true, false, true}) {
    job.send(1, 0), job.send(0, 1, 8, agents);
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0) && job.arrived(0, 1); }, agents));
  }
  EXPECT_EQ(job.agent.descriptors(), job.kept_by_agent + 1);
}

// What the set tells of has the number that the connection has at that time, and is told once.
TEST_F(DescriptorTablesTest, ASeparateConnectionOfTheAgentIsStillSeparateOnceAdopted) {
  Job job(2);
  const std::vector<int> filler{some_file(), some_file()};  // so that the numbers differ
  const auto woken_by = [&] {
    epoll_event events[4];
    const int count = epoll_wait(job.set, events, 4, 1000);
    return count == 1 ? events[0].data.fd : -1;
  };
  for (int i = 0; i < 40; ++i) {
    job.send(1, 0);
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
    job.on_side(true, [&] { job.fabrics[0]->watch_separate(true); });
  }
  int agents = -1;
  job.agent.run([&] { agents = job.fabrics[0]->separate_descriptor(); });
  EXPECT_GE(agents, 0);
  job.send(1, 0);
  job.poll_others();
  EXPECT_EQ(woken_by(), agents);
  job.poll_first(false);
  const int adopted = job.fabrics[0]->separate_descriptor();
  EXPECT_GE(adopted, 0);
  EXPECT_NE(adopted, agents);
  for (const bool by_agent : {true, false, true}) {
    job.send(1, 0);
    job.poll_others();
    job.on_side(true, [&] { EXPECT_EQ(woken_by(), adopted); });
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, by_agent));
  }
  for (const int each : filler) close(each);
}

TEST_F(DescriptorTablesTest, TheProgramAdoptsUnderOtherNumbersThanTheAgents) {
  Job job(4);
  const std::vector<int> filler{some_file(), some_file()};
  for (const int rank : {1, 2}) {
    job.send(rank, 0);
    ASSERT_TRUE(job.run([&] { return job.arrived(rank, 0); }, true));
  }
  job.poll_first(false);
  for (const int each : filler) close(each);
  for (const bool by_agent : {false, true, false}) {
    for (const int rank : {1, 2, 3}) job.send(0, rank, 8, by_agent), job.send(rank, 0);
    ASSERT_TRUE(job.run(
        [&] {
          bool all = true;
          for (const int rank : {1, 2, 3})
            all = all && job.arrived(0, rank) && job.arrived(rank, 0);
          return all;
        },
        by_agent));
  }
}

TEST_F(DescriptorTablesTest, TheOtherEndNoticesAtOnceWhicheverSideCloses) {
  for (const bool agents : {false, true}) {
    for (const bool adopted : {false, true}) {
      Job job(2);
      job.send(1, 0);
      ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
      if (adopted) job.poll_first(false), job.poll_first(true);
      job.on_side(agents, [&] { job.fabrics[0]->forget(1); });
      EXPECT_TRUE(job.run([&] { return job.listeners[1].gone.contains(0); }, agents));
      job.poll_first(!agents), job.poll_first(agents);
      EXPECT_EQ(job.agent.descriptors(), job.kept_by_agent);
      EXPECT_EQ(Other::numbers(getpid()).size(), job.kept_by_program);
    }
  }
}

// Limits the program to the descriptors that it has.
struct NoDescriptors {
  NoDescriptors() {
    testing::internal::CaptureStderr();
    getrlimit(RLIMIT_NOFILE, &before);
    const int next = some_file();
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() {
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "nearcache: rank 0: a connection of another rank waits: Too many open files\n");
  }
  rlimit before{};
};

// The agent can answer, as it has descriptors; what the program sends is lost.
TEST_F(DescriptorTablesTest, WithoutADescriptorTheProgramAdoptsLater) {
  for (const bool sends : {false, true}) {
    Job job(2);
    job.send(1, 0);
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
    {
      const NoDescriptors none;
      for (int i = 0; i < 3; ++i) job.poll_first(false);
      if (sends) job.send(0, 1);
      job.poll_first(false);
    }
    EXPECT_EQ(job.listeners[0].gone.contains(1), sends);
    if (sends) continue;
    job.send(0, 1), job.send(1, 0);
    EXPECT_TRUE(job.run([&] { return job.arrived(0, 1) && job.arrived(1, 0); }, false));
  }
}

// The agent's number of a connection that the program cannot adopt is that of another file of the
// program, or of its next connection.
struct AgentsNumberIsTaken : DescriptorTablesTest {
  struct Pair {
    int end, other_end;
    ino_t inode;
    bool closed = false, checked = true;
  };
  std::vector<Pair> pairs;
  std::unique_ptr<Job> job;
  int number = -1, other_number = -1;  // of connections to ranks 1 and 2, in some order

  void SetUp() override {
    DescriptorTablesTest::SetUp();
    if (IsSkipped()) return;
    const auto before = Other::numbers(getpid());
    for (int i = 0; i < 8; ++i) {
      int ends[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
      pairs.push_back({ends[0], ends[1], file_at(ends[0])});
      pairs.push_back({ends[1], ends[0], file_at(ends[1])});
    }
    job = std::make_unique<Job>(4, before);  // so that the agent's next numbers are those of pairs
    const auto kept = Other::numbers(job->agent.thread_id());
    for (const int rank : {1, 2}) {
      job->send(rank, 0);
      ASSERT_TRUE(job->run([&] { return job->arrived(rank, 0); }, true));
    }
    for (const int each : Other::numbers(job->agent.thread_id())) {
      if (std::ranges::find(kept, each) != kept.end()) continue;
      (number < 0 ? number : other_number) = each;
      ASSERT_TRUE(std::ranges::find(pairs, each, &Pair::end) != pairs.end()) << each;
    }
    ASSERT_GE(other_number, 0);
  }
  void TearDown() override {
    for (const Pair& each : pairs) {
      if (!each.checked) continue;
      EXPECT_EQ(file_at(each.end), each.inode);
      char byte;
      EXPECT_EQ(recv(each.end, &byte, 1, MSG_DONTWAIT), -1);
      EXPECT_EQ(errno, EAGAIN);
    }
    for (const Pair& each : pairs) {
      if (!each.closed) close(each.end);
    }
  }
  // Closes the program's file of this number.
  void give_up(int closed) {
    for (Pair& each : pairs) {
      each.closed = each.closed || each.end == closed;
      each.checked = each.checked && each.end != closed && each.other_end != closed;
    }
    close(closed);
  }
  bool all_work() {
    for (const bool agents : {false, true, false, true}) {
      for (const int rank : {1, 2, 3}) {
        if (job->fabrics[static_cast<size_t>(rank)] == nullptr) continue;
        job->send(0, rank, 8, agents), job->send(rank, 0);
        if (!job->run([&] { return job->arrived(0, rank) && job->arrived(rank, 0); }, agents))
          return false;
      }
    }
    return true;
  }
};

TEST_F(AgentsNumberIsTaken, ByAFileThatTheProgramsCallsLeaveAlone) {
  {
    const NoDescriptors none;
    job->send(0, 1), job->send(0, 2);
    job->poll_first(false);
  }
  EXPECT_TRUE(job->listeners[0].gone.contains(1) && job->listeners[0].gone.contains(2));
}

TEST_F(AgentsNumberIsTaken, ByAFileThatGivingUpARankLeavesAlone) {
  {
    const NoDescriptors none;
    job->on_side(false, [&] { job->fabrics[0]->forget(1), job->fabrics[0]->forget(2); });
  }
  EXPECT_TRUE(job->run([&] { return job->listeners[1].gone.contains(0); }, true));
  EXPECT_EQ(job->agent.descriptors(), job->kept_by_agent);
}

TEST_F(AgentsNumberIsTaken, ByAConnectionOfTheProgram) {
  {
    const NoDescriptors none;
    job->on_side(false, [&] {
      give_up(number);
      job->fabrics[0]->send(3, bytes_of(job->sent[0][3]++, 8));
    });
    EXPECT_NE(file_at(number), 0u);
    job->poll_first(true);
  }
  EXPECT_TRUE(all_work());
}

TEST_F(AgentsNumberIsTaken, ByAConnectionThatTheProgramCloses) {
  {
    const NoDescriptors none;
    job->on_side(false, [&] {
      give_up(number);
      job->fabrics[0]->send(3, bytes_of(0, 8));
      job->fabrics[0]->forget(3);
    });
    job->fabrics[3] = nullptr;
    job->poll_first(true);
  }
  EXPECT_TRUE(all_work());
}

TEST_F(DescriptorTablesTest, ASeparateConnectionThatCannotBeAdoptedIsLeftToTheAgent) {
  Job job(2);
  for (int i = 0; i < 40; ++i) {
    job.send(1, 0);
    ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
    job.on_side(true, [&] { job.fabrics[0]->watch_separate(true); });
  }
  {
    const NoDescriptors none;
    for (int turn = 0; turn < 3; ++turn) {
      job.on_side(false, [&] {
        SocketFabric& fabric = *job.fabrics[0];
        EXPECT_EQ(fabric.separate_descriptor(), -1);
        fabric.watch_separate(false);
        fabric.watch_together();
        fabric.poll(job.listeners[0]);
        fabric.watch_separate(true);
      });
      job.send(1, 0);
      job.on_side(true, [&] { job.fabrics[0]->watch_separate(true); });
      epoll_event event;
      EXPECT_EQ(epoll_wait(job.set, &event, 1, 1000), 1);
      job.on_side(true, [&] { EXPECT_EQ(job.fabrics[0]->separate_descriptor(), event.data.fd); });
      EXPECT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
    }
  }
  for (const bool agents : {false, true, false}) {
    job.send(1, 0), job.send(0, 1, 8, agents);
    EXPECT_TRUE(job.run([&] { return job.arrived(1, 0) && job.arrived(0, 1); }, agents));
  }
}

TEST_F(DescriptorTablesTest, WhatIsOnlyTheAgentsIsLostWithIt) {
  Job job(2);
  job.send(1, 0);
  ASSERT_TRUE(job.run([&] { return job.arrived(1, 0); }, true));
  job.fabrics[0]->use_tables(nullptr, nullptr);  // nothing was settled
  job.fabrics[0]->poll(job.listeners[0]);
  EXPECT_TRUE(job.listeners[0].gone.contains(1));
}

// Ranks come and go, sides take turns, and the program opens and closes files in between.
TEST_F(DescriptorTablesTest, RandomTurnsLoseNothingAndTouchNoOtherFile) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<unsigned>(end));
    };
    constexpr int ranks = 24;
    Job job(ranks);
    std::vector<bool> left(ranks);
    std::map<int, ino_t> files;
    for (int step = 0; step < 400; ++step) {
      const int rank = 1 + below(ranks - 1);
      switch (below(left[static_cast<size_t>(rank)] ? 2 : 8)) {
        case 0:
          if (const int file = some_file(); file >= 0) files[file] = file_at(file);
          break;
        case 1:
          if (files.empty()) break;
          close(files.begin()->first);
          files.erase(files.begin());
          break;
        case 2:
          if (below(4) > 0) break;
          left[static_cast<size_t>(rank)] = true;
          if (below(2) == 0)
            job.on_side(below(2) == 0, [&] { job.fabrics[0]->forget(rank); });
          else
            job.fabrics[static_cast<size_t>(rank)]->forget(0);
          break;
        case 3:
        case 4:
          job.send(0, rank, 8 + static_cast<size_t>(below(9000)), below(2) == 0);
          break;
        default:
          job.send(rank, 0);
      }
      for (int polls = below(4); polls > 0; --polls) job.poll_first(below(2) == 0);
      if (below(2) == 0) job.poll_others();
    }
    const auto all_there = [&] {
      for (int rank = 1; rank < ranks; ++rank) {
        if (left[static_cast<size_t>(rank)]) continue;
        if (!job.arrived(rank, 0) || !job.arrived(0, rank)) return false;
      }
      return true;
    };
    EXPECT_TRUE(job.run(all_there, [&] { return below(2) == 0; })) << seed;
    for (const auto& [number, inode] : files) EXPECT_EQ(file_at(number), inode) << seed;
    for (int rank = 1; rank < ranks; ++rank)
      EXPECT_TRUE(left[static_cast<size_t>(rank)] || !job.listeners[0].gone.contains(rank)) << seed;
    for (int turn = 0; turn < 100; ++turn) job.poll_first(turn % 2 == 0), job.poll_others();
    for (const auto& [number, inode] : files) close(number);
  }
}

}  // namespace TEST_FILE
}  // namespace nearcache::net
