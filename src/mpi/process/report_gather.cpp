// Brings the counters of all ranks to rank 0 and writes the report there.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "telemetry/report_file.h"
#include "mpi/process/context.h"
#include "mpi/process/network_model.h"
#include "mpi/process/next.h"
#include "mpi/process/report_gather.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// One window of one rank, as it travels to rank 0.
struct WindowMessage {
  int64_t id;
  int32_t ranks;
  char mode[16];
  char policy[24];
  char bypass[96];
  Counters counters;
};

struct RankMessage {
  double wall_seconds;
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
  message.counters = report.counters;
  return message;
}

std::vector<WindowMessage> windows_of_rank() {
  std::vector<WindowMessage> messages;
  for (const WindowReport& report : context.freed_windows) messages.push_back(message_of(report));
  for (Window* window : context.windows.all()) {
    WindowReport report;
    window->fill_counters(&report.counters);
    report.id = static_cast<int>(window->identity().id);
    report.ranks = window->identity().ranks;
    report.mode = mode_name(window->mode());
    report.policy = policy_name(window->options().policy);
    report.bypass = window->obstacle();
    messages.push_back(message_of(report));
  }
  return messages;
}

RankMessage rank_message() {
  RankMessage message{};
  message.wall_seconds = 1e-9 * static_cast<double>(system_ns() - context.started_ns);
  message.counters = context.freed;
  for (Window* window : context.windows.all()) {
    Counters counters;
    window->fill_counters(&counters);
    message.counters += counters;
  }
  return message;
}

// The lists of all ranks, in their order, at rank 0; empty elsewhere. Collective.
template <class Item>
std::vector<std::vector<Item>> gather_lists(const std::vector<Item>& mine) {
  const auto ranks = static_cast<size_t>(context.ranks);
  const bool root = context.rank == 0;
  const int my_bytes = static_cast<int>(mine.size() * sizeof(Item));
  std::vector<int> bytes(root ? ranks : 0), offsets(root ? ranks : 0);
  next.Gather(&my_bytes, 1, MPI_INT, bytes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  size_t total = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    offsets[i] = static_cast<int>(total);
    total += static_cast<size_t>(bytes[i]);
  }
  std::vector<Item> all(total / sizeof(Item));
  next.Gatherv(mine.data(), my_bytes, MPI_BYTE, all.data(), bytes.data(), offsets.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
  std::vector<std::vector<Item>> lists(bytes.size());
  auto at = all.begin();
  for (size_t i = 0; i < lists.size(); ++i) {
    const auto items = static_cast<ptrdiff_t>(static_cast<size_t>(bytes[i]) / sizeof(Item));
    lists[i].assign(at, at + items);
    at += items;
  }
  return lists;
}

std::vector<WindowMessage> joined(const std::vector<std::vector<WindowMessage>>& lists) {
  std::vector<WindowMessage> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// Up to 30 KiB a rank come to rank 0: of very many ranks the report does without.
std::vector<std::vector<uint64_t>> gather_profiles() {
  constexpr int most_ranks = 16384;
  Profile* profile = context.ranks > most_ranks ? nullptr : context.observer.profile();
  if (profile != nullptr) profile->tick(system_ns() - context.started_ns);  // what came after the last look
  return gather_lists(profile == nullptr ? std::vector<uint64_t>() : ReportDetails::pack(*profile));
}

// Windows with the same id and size are one window, seen by its ranks.
std::vector<WindowReport> merge(const std::vector<WindowMessage>& messages) {
  std::map<std::pair<int64_t, int32_t>, WindowReport> windows;
  for (const WindowMessage& message : messages) {
    WindowReport& window = windows[{message.id, message.ranks}];
    window.id = static_cast<int>(message.id);
    window.ranks = message.ranks;
    window.mode = message.mode;
    window.policy = message.policy;
    if (message.bypass[0] != '\0') window.bypass = message.bypass;
    window.counters += message.counters;
  }
  std::vector<WindowReport> merged;
  for (auto& [key, window] : windows) merged.push_back(std::move(window));
  return merged;
}

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
  if (!report_is_wanted(context.options.report) || !context.started || context.same_node.empty()) return;
  const auto ranks = static_cast<size_t>(context.ranks);
  const RankMessage mine = rank_message();
  const std::vector<WindowMessage> my_windows = windows_of_rank();
  const bool root = context.rank == 0;
  std::vector<RankMessage> all(root ? ranks : 0);
  next.Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  const std::vector<WindowMessage> windows = joined(gather_lists(my_windows));
  std::vector<std::vector<uint64_t>> profiles = gather_profiles();
  if (!root) return;
  Report report;
  for (size_t rank = 0; rank < profiles.size(); ++rank) report.details.add(static_cast<int>(rank), profiles[rank]);
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  report.host = host;
  report.library = library_line();
  report.program = program_name();
  report.modelled = network_model_label();
  report.options = context.options;
  for (const RankMessage& rank : all) report.ranks.push_back({rank.wall_seconds, rank.counters});
  report.windows = merge(windows);
  write_report(report, context.options.report, context.rank);
}

}  // namespace nearcache::mpi
