// SPDX-License-Identifier: BSD-3-Clause

// Gathers the counters of all ranks at rank 0, which writes the report.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/log.h"
#include "mpi/process/context.h"
#include "mpi/process/network_model.h"
#include "mpi/process/next.h"
#include "mpi/process/report_gather.h"
#include "mpi/window/window.h"
#include "telemetry/gather_plan.h"
#include "telemetry/report_file.h"

namespace nearcache::mpi {
namespace {

// One window of one rank, as sent to rank 0.
struct WindowMessage {
  int64_t id;
  int32_t ranks;
  char mode[16];
  char policy[24];
  char bypass[96];
  char incoherent[128];
  char unshared[96];
  int32_t sharing, shared_caches;
  Counters counters;
};

struct RankMessage {
  double wall_seconds;
  uint64_t node;
  Counters counters;
};

template <size_t size>
void copy_text(char (&to)[size], const std::string& from) {
  snprintf(to, size, "%s", from.c_str());
}

WindowMessage message_of(const WindowReport& report) {
  WindowMessage message{};
  message.id = report.id;
  message.ranks = report.ranks;
  copy_text(message.mode, report.mode);
  copy_text(message.policy, report.policy);
  copy_text(message.bypass, report.bypass);
  copy_text(message.incoherent, report.incoherent);
  copy_text(message.unshared, report.unshared);
  message.sharing = report.sharing;
  message.shared_caches = report.shared_caches;
  message.counters = report.counters;
  return message;
}

std::vector<WindowMessage> windows_of_rank() {
  const auto open = context.windows.all();
  std::vector<WindowMessage> messages;
  messages.reserve(context.freed_windows.size() + open.size());
  for (const WindowReport& report : context.freed_windows) messages.push_back(message_of(report));
  for (const Window* window : open) messages.push_back(message_of(window->report()));
  return messages;
}

RankMessage rank_message() {
  RankMessage message{};
  message.wall_seconds = 1e-9 * static_cast<double>(system_ns() - context.started_ns);
  message.node = node_number();
  message.counters = context.freed;
  for (Window* window : context.windows.all()) {
    Counters counters;
    window->fill_counters(&counters);
    message.counters += counters;
  }
  return message;
}

// Gathers data of all ranks at rank 0. If a rank does not answer (world.h), gathering ends and
// failed() is true.
class Gathering {
 public:
  // Returns false if no other ranks can be asked. Ranks that have met may be far apart in time; of
  // others it is unknown whether they take part at all.
  bool start() {
    World& world = context.world;
    if (!world.known() || world.given_up()) return false;
    const bool met = world.all_met();
    patience_ = met ? no_limit : 60ull * 1000000000;
    comm_ = met || world.has_model() ? world.everybody() : MPI_COMM_NULL;
    World::Met everybody;
    return comm_ != MPI_COMM_NULL &&
           (met || world.meet(comm_, world.members(comm_), &everybody, patience_));
  }
  bool failed() const { return failed_; }

  // Rank 0 calls `visit(rank, items, count)` for pieces of all ranks' lists. Collective.
  template <class Item, class Visit>
  void gather(const std::vector<Item>& mine, Visit visit) {
    static_assert(sizeof(Item) % sizeof(uint64_t) == 0);
    const std::vector<uint64_t> lengths = lengths_of_all(mine.size());
    if (failed_) return;
    const uint64_t longest = *std::ranges::max_element(lengths);
    const GatherPlan plan = GatherPlan::of(longest, sizeof(Item), lengths.size());
    const size_t words = plan.items * sizeof(Item) / sizeof(uint64_t);
    for (uint64_t round = 0; round < plan.rounds; ++round) {
      const uint64_t first = round * plan.items;
      Exchange exchange(words, context.rank == 0 ? words * lengths.size() : 0);
      if (first < mine.size())
        std::memcpy(exchange.sent().data(), mine.data() + first,
                    std::min<size_t>(plan.items, mine.size() - first) * sizeof(Item));
      next.Igather(exchange.sent().data(), static_cast<int>(words), MPI_UINT64_T,
                   exchange.received().data(), static_cast<int>(words), MPI_UINT64_T, 0, comm_,
                   exchange.request());
      if (!wait(&exchange)) return;
      for (size_t rank = 0; context.rank == 0 && rank < lengths.size(); ++rank) {
        if (first >= lengths[rank]) continue;
        visit(rank, reinterpret_cast<const Item*>(exchange.received().data() + rank * words),
              std::min(plan.items, lengths[rank] - first));
      }
    }
  }

 private:
  std::vector<uint64_t> lengths_of_all(uint64_t mine) {
    Exchange exchange(1, static_cast<size_t>(context.ranks));
    exchange.sent()[0] = mine;
    exchange.gather_to_all(comm_);
    wait(&exchange);
    return exchange.received();
  }

  bool wait(Exchange* exchange) {
    if (exchange->wait(patience_)) return true;
    context.world.give_up(std::move(*exchange));
    failed_ = true;
    return false;
  }

  MPI_Comm comm_{};
  uint64_t patience_ = no_limit;
  bool failed_ = false;
};

// Up to 30 KiB per rank are sent to rank 0, so with very many ranks the report omits profiles.
std::vector<uint64_t> packed_profile() {
  constexpr int most_ranks = 16384;
  Profile* profile = context.ranks > most_ranks ? nullptr : context.observer.profile();
  if (profile == nullptr) return {};
  profile->tick(system_ns() - context.started_ns);  // what followed the last tick
  return ReportDetails::pack(*profile);
}

std::string threads() {
  int level = MPI_THREAD_SINGLE;
  if (next.Query_thread(&level) != MPI_SUCCESS) return "";
  return thread_level_name(
      level, {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE});
}

// Entries with the same id are one window, as seen by its ranks. Ranks number the reasons for which
// they left windows alone by themselves.
class WindowMerger {
 public:
  void add(const WindowMessage& message) {
    WindowReport& window = windows_[{message.id, message.id < 0 ? message.bypass : ""}];
    window.id = message.id;
    window.ranks = message.ranks;
    window.mode = message.mode;
    window.policy = message.policy;
    if (message.bypass[0] != '\0') window.bypass = message.bypass;
    if (message.incoherent[0] != '\0') window.incoherent = message.incoherent;
    if (message.unshared[0] != '\0') window.unshared = message.unshared;
    window.sharing += message.sharing;
    window.shared_caches += message.shared_caches;
    window.counters += message.counters;
  }
  std::vector<WindowReport> merged() {
    std::vector<WindowReport> merged;
    merged.reserve(windows_.size());
    for (auto& [key, window] : windows_) merged.push_back(std::move(window));
    return merged;
  }

 private:
  std::map<std::pair<int64_t, std::string>, WindowReport> windows_;
};

}  // namespace

std::string library_line() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  next.Get_library_version(text, &length);
  std::string line(text);
  for (char& c : line) {
    if (c == '\t') c = ' ';
  }
  return line.substr(0, line.find('\n'));
}

void context_report() {
  if (!context.started) return;
  const bool wanted = report_is_wanted(context.options.report);
  // Ranks that have met do alike: as rank 0 says, which writes the report.
  const World& world = context.world;
  if (wanted && world.all_met() && world.first_to_report() == context.rank && context.rank != 0)
    log(LogLevel::warning, "no report is written: rank %d has option report, and rank 0 has not",
        context.rank);
  if (world.all_met() ? world.first_to_report() != 0 : !wanted) return;
  Gathering gathering;
  if (!gathering.start()) {
    if (context.rank == 0)
      log(LogLevel::warning,
          "no report is written: other ranks run without Nearcache, or cannot be asked");
    return;
  }
  std::vector<RankMessage> ranks(static_cast<size_t>(context.ranks));
  std::vector<std::vector<uint64_t>> profiles(ranks.size());
  WindowMerger windows;
  gathering.gather(std::vector{rank_message()}, [&](size_t rank, const RankMessage* message,
                                                    uint64_t) { ranks[rank] = *message; });
  if (!gathering.failed()) {
    gathering.gather(windows_of_rank(), [&](size_t, const WindowMessage* messages, uint64_t count) {
      for (uint64_t i = 0; i < count; ++i) windows.add(messages[i]);
    });
  }
  if (!gathering.failed()) {
    gathering.gather(packed_profile(), [&](size_t rank, const uint64_t* words, uint64_t count) {
      profiles[rank].insert(profiles[rank].end(), words, words + count);
    });
  }
  if (context.rank != 0 || gathering.failed()) return;
  Report report = new_report(context.options, library_line(), network_model_label(), threads(),
                             ranks[0].wall_seconds);
  for (size_t rank = 0; rank < profiles.size(); ++rank)
    report.details.add(static_cast<int>(rank), profiles[rank]);
  for (const RankMessage& rank : ranks)
    report.ranks.push_back({rank.wall_seconds, rank.node, rank.counters});
  report.windows = windows.merged();
  write_report(report, context.options.report, context.rank);
}

}  // namespace nearcache::mpi
