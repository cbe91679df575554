// SPDX-License-Identifier: BSD-3-Clause

// The time of each one-sided call between two ranks: rank 0 measures, rank 1 is the target (fence
// and post to wait: any number of ranks). Meanwhile the target is in a barrier, where any MPI makes
// progress; except for `computing`, where it makes no MPI calls. Calls are timed in blocks that are
// long compared with the clock's resolution; --calls names the calls to measure. Those that begin
// with `plain` use a TCP connection without MPI: what the system takes for such a call at least.
#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "bench.h"
#include "plain_tcp.h"

using bench::now_ns;
using bench::Rows;

namespace {

constexpr int origin = 0, target = 1;
// 8-byte slots; also the number of operations between two flushes when a rate is measured
constexpr int slots = 1000;
constexpr std::size_t largest = 32768;  // bytes
// displacements: the counter, one word, and the operand of `min of 128`, 128 doubles
constexpr MPI_Aint counter = largest / 8, many = counter + 1, values = 128;
// whole pages: with other sizes, MPICH 4 maps rank 1's memory at a different offset for rank 0 than
// for rank 1 itself
constexpr MPI_Aint words = 8192;

int rank = 0;

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "bench_rma: wrong result of %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

struct Place {
  MPI_Win window;
  std::int64_t* mine;  // this rank's window memory
  std::vector<std::int64_t> buffer = std::vector<std::int64_t>(largest / 8);
  std::int64_t added = 0;  // total added to the counter
  std::optional<bench::PlainTcp> plain;
};

void get(Place& place, int bytes, MPI_Aint at = 0) {
  MPI_Get(place.buffer.data(), bytes, MPI_BYTE, target, at, bytes, MPI_BYTE, place.window);
}
void put(Place& place, MPI_Aint at) {
  MPI_Put(place.buffer.data(), 8, MPI_BYTE, target, at, 8, MPI_BYTE, place.window);
}
void flush(Place& place) { MPI_Win_flush(target, place.window); }

void fetch_and_op(Place& place) {
  const std::int64_t one = 1;
  std::int64_t before = -1;
  MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, counter, MPI_SUM, place.window);
  flush(place);
  if (before != place.added++) stop("MPI_Fetch_and_op");
}

void compare_and_swap(Place& place) {
  const std::int64_t next = place.added + 1;
  std::int64_t before = -1;
  MPI_Compare_and_swap(&next, &place.added, &before, MPI_INT64_T, target, counter, place.window);
  flush(place);
  if (before != place.added++) stop("MPI_Compare_and_swap");
}

void accumulate(Place& place) {
  const std::int64_t one = 1;
  MPI_Accumulate(&one, 1, MPI_INT64_T, target, counter, 1, MPI_INT64_T, MPI_SUM, place.window);
  flush(place);
  ++place.added;
}

void min_of_many(Place& place) {
  MPI_Accumulate(place.buffer.data(), values, MPI_DOUBLE, target, many, values, MPI_DOUBLE, MPI_MIN,
                 place.window);
  flush(place);
}

void lock(Place& place, int type, bool gets) {
  MPI_Win_lock(type, target, 0, place.window);
  if (gets) get(place, 8);
  MPI_Win_unlock(target, place.window);
}

// Each rank exposes its memory to its neighbours in a ring and accesses theirs; with two ranks, the
// only neighbour is the other rank.
void post_to_wait(Place& place) {
  static const MPI_Group others = [] {
    MPI_Group all, some;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int ranks;
    MPI_Group_size(all, &ranks);
    const int them[2] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
    MPI_Group_incl(all, ranks == 2 ? 1 : 2, them, &some);
    MPI_Group_free(&all);
    return some;
  }();
  MPI_Win_post(others, 0, place.window);
  MPI_Win_start(others, 0, place.window);
  MPI_Win_complete(place.window);
  MPI_Win_wait(place.window);
}

void ping_pong(Place& place) {
  const auto send = [&] {
    MPI_Send(place.buffer.data(), 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
  };
  if (rank == origin) send();
  MPI_Recv(place.buffer.data(), 8, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != origin) send();
}

// Bytes of the engine's messages besides data: a request, and a reply.
constexpr std::size_t request = 48, reply = 24;

// A request of `out` bytes of data from rank 0, and a reply with `back` bytes.
void plain(Place& place, std::size_t out, std::size_t back) {
  if (rank == origin) {
    place.plain->ask(request + out, reply + back);
  } else {
    place.plain->answer(request + out, reply + back);
  }
}

// Each rank tells the other something and waits for what the other says.
void plain_meeting(Place& place) { place.plain->ask(reply, reply); }

// within lock_all; without an epoch, because the call opens its own; made by both ranks
enum class Epoch { locked, none, both };

struct Call {
  const char* name;
  Epoch epoch;
  int operations;  // per call
  void (*once)(Place&);
};

const std::vector<Call> calls = {
    {"get 8", Epoch::locked, 1, [](Place& place) { get(place, 8), flush(place); }},
    {"get 2048", Epoch::locked, 1, [](Place& place) { get(place, 2048), flush(place); }},
    {"get 32768", Epoch::locked, 1, [](Place& place) { get(place, 32768), flush(place); }},
    {"put 8", Epoch::locked, 1, [](Place& place) { put(place, 0), flush(place); }},
    {"put rate", Epoch::locked, slots,
     [](Place& place) {
       for (int i = 0; i < slots; ++i) put(place, i);
       flush(place);
     }},
    {"get rate", Epoch::locked, slots,
     [](Place& place) {
       for (int i = 0; i < slots; ++i) get(place, 8, i);
       flush(place);
     }},
    {"fetch_and_op", Epoch::locked, 1, fetch_and_op},
    {"compare_and_swap", Epoch::locked, 1, compare_and_swap},
    {"accumulate 1", Epoch::locked, 1, accumulate},
    {"min of 128", Epoch::locked, 1, min_of_many},
    {"empty flush", Epoch::locked, 1, flush},
    {"lock shared", Epoch::none, 1, [](Place& place) { lock(place, MPI_LOCK_SHARED, false); }},
    {"lock exclusive", Epoch::none, 1,
     [](Place& place) { lock(place, MPI_LOCK_EXCLUSIVE, false); }},
    {"lock get unlock", Epoch::none, 1,
     [](Place& place) { lock(place, MPI_LOCK_EXCLUSIVE, true); }},
    {"lock_all", Epoch::none, 1,
     [](Place& place) { MPI_Win_lock_all(0, place.window), MPI_Win_unlock_all(place.window); }},
    {"sync", Epoch::locked, 1, [](Place& place) { MPI_Win_sync(place.window); }},
    {"fence", Epoch::both, 1, [](Place& place) { MPI_Win_fence(0, place.window); }},
    {"post to wait", Epoch::both, 1, post_to_wait},
    {"messages", Epoch::both, 1, ping_pong},
};

// Likewise, measured only if they are named.
const std::vector<Call> plain_calls = {
    {"plain get 8", Epoch::both, 1, [](Place& place) { plain(place, 0, 8); }},
    {"plain get 2048", Epoch::both, 1, [](Place& place) { plain(place, 0, 2048); }},
    {"plain get 32768", Epoch::both, 1, [](Place& place) { plain(place, 0, 32768); }},
    {"plain min of 128", Epoch::both, 1, [](Place& place) { plain(place, 1024, 0); }},
    {"plain fence", Epoch::both, 1, plain_meeting},
};

double timed(const Call& call, Place& place, int count) {
  const std::int64_t start = now_ns();
  for (int i = 0; i < count; ++i) call.once(place);
  return static_cast<double>(now_ns() - start) / 1e3 / count / call.operations;
}

// Returns the microseconds per operation, one value for each block.
std::vector<double> measured(const Call& call, Place& place, std::int64_t budget_ns) {
  constexpr std::int64_t block_ns = 20000;
  std::vector<double> blocks;
  if (call.epoch == Epoch::both) {  // the same number of calls on both sides
    constexpr int block = 20;
    timed(call, place, block);
    double all = timed(call, place, block) * block * 1e3;
    MPI_Bcast(&all, 1, MPI_DOUBLE, origin, MPI_COMM_WORLD);
    const auto count = static_cast<int>(static_cast<double>(budget_ns) / all);
    for (int i = 0; i < std::clamp(count, 5, 10000); ++i)
      blocks.push_back(timed(call, place, block));
  } else if (rank == origin) {
    timed(call, place, call.operations == 1 ? 20 : 2);
    const double once_ns =
        timed(call, place, call.operations == 1 ? 20 : 2) * 1e3 * call.operations;
    const int count =
        std::clamp(static_cast<int>(static_cast<double>(block_ns) / once_ns), 1, 1000);
    const std::int64_t start = now_ns();
    while (now_ns() - start < budget_ns) blocks.push_back(timed(call, place, count));
  }
  return blocks;
}

void measure(const Call& call, Place& place, std::int64_t budget_ns, Rows& rows) {
  if (rank == origin && call.epoch == Epoch::locked) MPI_Win_lock_all(0, place.window);
  const std::vector<double> blocks = measured(call, place, budget_ns);
  if (rank == origin && call.epoch == Epoch::locked) MPI_Win_unlock_all(place.window);
  MPI_Barrier(MPI_COMM_WORLD);
  rows.begin();
  rows.field("call", call.name);
  rows.field("us", blocks);
}

// Checks the effects of the operations on the target's memory.
void check(Place& place) {
  if (rank == target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, place.window);
    if (place.mine[counter] != place.added) stop("accumulates");
    MPI_Win_unlock(target, place.window);
  }
}

double ns_of(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Returns the processor time of all threads but this one.
double others_cpu_ns() { return ns_of(CLOCK_PROCESS_CPUTIME_ID) - ns_of(CLOCK_THREAD_CPUTIME_ID); }

// While the target computes, rank 0 now and then calls once(), which does `batch` operations.
// Latencies are per call.
template <class Once>
void computing(const char* name, int batch, int periods, int period_ms, Once once, Rows& rows) {
  bench::Random random(5);
  std::vector<double> latencies;
  double cpu_ns = 0;
  for (int period = 0; period < periods; ++period) {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::int64_t end = now_ns() + period_ms * std::int64_t{1000000};
    if (rank == target) {
      const double before = others_cpu_ns();
      while (now_ns() < end) {
      }
      cpu_ns += others_cpu_ns() - before;
    } else {
      usleep(1000);  // until the target has left the barrier
      while (now_ns() < end - 1000000) {
        const std::int64_t next =
            now_ns() + 50000 + static_cast<std::int64_t>(random.below(100000));
        while (now_ns() < next) {
        }
        const std::int64_t start = now_ns();
        once();
        latencies.push_back(static_cast<double>(now_ns() - start) / 1e3);
      }
    }
  }
  MPI_Bcast(&cpu_ns, 1, MPI_DOUBLE, target, MPI_COMM_WORLD);
  rows.begin();
  rows.field("call", name);
  rows.field("us", latencies);
  rows.field("target_cpu_us",
             cpu_ns / 1e3 /
                 std::max<double>(
                     1, static_cast<double>(latencies.size() * static_cast<std::size_t>(batch))));
}

// `batch` words are got and flushed.
void computing(Place& place, const char* name, int batch, int periods, int period_ms, Rows& rows) {
  if (rank == origin) MPI_Win_lock_all(0, place.window);
  const auto once = [&] {
    for (int i = 0; i < batch; ++i) get(place, 8, i);
    flush(place);
  };
  computing(name, batch, periods, period_ms, once, rows);
  if (rank == origin) MPI_Win_unlock_all(place.window);
}

// A thread of the target, asleep until something arrives, answers.
void plain_computing(Place& place, int periods, int period_ms, Rows& rows) {
  if (rank == target) place.plain->answer_in_a_thread(request, reply + 8);
  computing(
      "plain computing", 1, periods, period_ms, [&] { place.plain->ask(request, reply + 8); },
      rows);
  if (rank == origin) place.plain->hang_up();
  if (rank == target) place.plain->wait_for_thread();
}

// Returns how often this process's agent threads, identified by name, went to sleep; -1 if there
// are none.
double agent_sleeps() {
  double sleeps = -1;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* task = tasks != nullptr ? readdir(tasks) : nullptr) {
    std::FILE* file =
        std::fopen((std::string("/proc/self/task/") + task->d_name + "/status").c_str(), "r");
    if (file == nullptr) continue;
    char line[256];
    bool agent = false;
    while (std::fgets(line, sizeof line, file)) {
      if (std::strcmp(line, "Name:\tnearcache-agent\n") == 0) agent = true;
      if (agent && std::strncmp(line, "voluntary_ctxt_switches:", 24) == 0)
        sleeps = std::max(sleeps, 0.0) + std::atof(line + 24);
    }
    std::fclose(file);
  }
  if (tasks != nullptr) closedir(tasks);
  return sleeps;
}

void idle(Rows& rows, int milliseconds) {
  MPI_Barrier(MPI_COMM_WORLD);
  usleep(20000);
  // An agent that wakes up regularly does so in each period. On a busy machine the last timer of
  // the calls before may be late, and wake it in the first.
  double before, found = 1;
  for (int period = 0; period < 3 && found > 0; ++period) {
    before = agent_sleeps();
    usleep(static_cast<useconds_t>(milliseconds) * 1000);
    found = agent_sleeps() - before;
  }
  double both[2];
  MPI_Allgather(&found, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  rows.begin();
  rows.field("call", "idle");
  rows.field("agents", before >= 0);
  rows.field("wakeups", both[0] + both[1]);
}

}  // namespace

// Outside the namespace and never inlined: the driver counts instructions in these two functions by
// name.
extern "C" __attribute__((noinline)) void bench_put_block(MPI_Win window, const void* from,
                                                          int count) {
  for (int i = 0; i < count; ++i) MPI_Put(from, 8, MPI_BYTE, target, i, 8, MPI_BYTE, window);
}

extern "C" __attribute__((noinline)) void bench_flush_block(MPI_Win window, int count) {
  for (int i = 0; i < count; ++i) MPI_Win_flush(target, window);
}

namespace {

void counted(Place& place, int blocks, int block) {
  if (rank == origin) {
    MPI_Win_lock_all(0, place.window);
    put(place, 0), flush(place);
    for (int i = 0; i < blocks; ++i) {
      bench_put_block(place.window, place.buffer.data(), block);
      flush(place);
      bench_flush_block(place.window, block);
    }
    MPI_Win_unlock_all(place.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::set<std::string> wanted(const std::string& list) {
  std::istringstream names(list);
  std::set<std::string> result;
  for (std::string name; std::getline(names, name, ',');) result.insert(name);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bench::Arguments arguments(
      argc, argv,
      {bench::text("calls", "", "Calls to measure; none: all but those of --except"),
       bench::text("except", "", "Calls to leave out"),
       bench::number("milliseconds", 40, "Time for each call"),
       bench::number("periods", 3, "Periods of computing"),
       bench::number("period", 300, "Milliseconds of one"),
       bench::text("memory", "created", "created or allocated"),
       bench::number("idle", 1000, "Milliseconds of being idle"),
       bench::number("sleepers", 0, "Threads that sleep meanwhile"),
       bench::number("blocks", 20, "Blocks of counted calls")});
  const std::set<std::string> only = wanted(arguments.text("calls")),
                              without = wanted(arguments.text("except"));
  const auto chosen = [&](const char* name) {
    return only.empty() ? !without.contains(name) : only.contains(name);
  };
  const std::int64_t budget_ns = arguments.number("milliseconds") * 1000000;
  const auto periods = static_cast<int>(arguments.number("periods"));
  const auto period_ms = static_cast<int>(arguments.number("period"));
  for (std::int64_t i = 0; i < arguments.number("sleepers"); ++i) std::thread(pause).detach();
  Rows rows;
  Place place;
  std::vector<std::int64_t> memory;
  place.mine = bench::make_words(arguments.text("memory"), words, &memory, &place.window);
  MPI_Barrier(MPI_COMM_WORLD);
  for (const Call& call : calls) {
    if (chosen(call.name)) measure(call, place, budget_ns, rows);
  }
  const bool plainly =
      std::ranges::any_of(only, [](const std::string& name) { return name.starts_with("plain"); });
  if (plainly) place.plain.emplace(rank);
  for (const Call& call : plain_calls) {
    if (only.contains(call.name)) measure(call, place, budget_ns, rows);
  }
  MPI_Bcast(&place.added, 1, MPI_INT64_T, origin, MPI_COMM_WORLD);
  check(place);
  if (chosen("computing")) computing(place, "computing", 1, periods, period_ms, rows);
  if (only.contains("computing 100"))
    computing(place, "computing 100", 100, periods, period_ms, rows);
  if (only.contains("plain computing")) plain_computing(place, periods, period_ms, rows);
  if (only.contains("idle")) idle(rows, static_cast<int>(arguments.number("idle")));
  if (only.contains("counted")) counted(place, static_cast<int>(arguments.number("blocks")), 50);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&place.window);
  rows.write(arguments.text("out"));
  MPI_Finalize();
}
