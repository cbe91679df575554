// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/report_gather.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "shmem/context.h"
#include "shmem/network_model.h"
#include "shmem/next.h"
#include "telemetry/report_file.h"

namespace nearcache::shmem {
namespace {

// One context of one PE, as sent to PE 0.
struct ContextMessage {
  int64_t id;
  char bypass[96];
  Counters counters;
};

// Contexts beyond the last row share it.
constexpr size_t most_contexts = 8;

struct Message {
  double wall_seconds;
  uint64_t node;
  uint64_t contexts;
  Counters counters;
  ContextMessage context[most_contexts];
};

std::vector<WindowReport> contexts_of_process() {
  std::vector<WindowReport> all;
  context.each_channel([&](Channel& channel) {
    const ChannelLock lock(&channel);
    all.push_back(report_of(channel));
  });
  const std::lock_guard lock(context.mutex);
  all.insert(all.end(), context.closed.begin(), context.closed.end());
  std::sort(all.begin(), all.end(),
            [](const WindowReport& a, const WindowReport& b) { return a.id < b.id; });
  return all;
}

void fill(Message* message) {
  std::memset(static_cast<void*>(message), 0, sizeof *message);
  message->wall_seconds = 1e-9 * static_cast<double>(system_ns() - context.started_ns);
  message->node = node_number();
  for (const WindowReport& report : contexts_of_process()) {
    message->counters += report.counters;
    if (message->contexts < most_contexts) {
      ContextMessage& row = message->context[message->contexts++];
      row.id = report.id;
      snprintf(row.bypass, sizeof row.bypass, "%s", report.bypass.c_str());
    }
    message->context[message->contexts - 1].counters += report.counters;
  }
}

std::string context_name(int64_t id, size_t row) {
  if (id == 0) return "default context";
  return (row + 1 == most_contexts ? "contexts from " : "context ") + std::to_string(id);
}

void add(const Message& message, Report* report, std::map<int64_t, WindowReport>* rows) {
  report->ranks.push_back({message.wall_seconds, message.node, message.counters});
  for (size_t i = 0; i < message.contexts && i < most_contexts; ++i) {
    const ContextMessage& from = message.context[i];
    WindowReport& row = (*rows)[from.id];
    row.id = static_cast<int>(from.id);
    row.name = context_name(from.id, i);
    row.mode = context.caching ? "on" : "off";
    row.policy = "2Q";
    row.ranks += 1;
    if (from.bypass[0] != '\0') row.bypass = from.bypass;
    row.counters += from.counters;
  }
}

// Brings every PE's details to PE 0 through a separate symmetric block; collective. If there is no
// room for that, the report has no details.
void gather_details(ReportDetails* details) {
  if (!context.profile.on()) return;
  constexpr size_t room = ReportDetails::most_words;
  auto* block = static_cast<uint64_t*>(next.malloc((room + 1) * sizeof(uint64_t)));
  if (block == nullptr) {
    if (context.pe == 0)
      log(LogLevel::warning, "report: no symmetric memory for its details (%zu bytes per PE)",
          (room + 1) * sizeof(uint64_t));
    return;
  }
  const std::vector<uint64_t> mine = context.profile.packed();
  block[0] = std::min(mine.size(), room);
  std::copy_n(mine.begin(), block[0], block + 1);
  next.barrier_all();
  for (int pe = 0; context.pe == 0 && pe < context.pes; ++pe) {
    uint64_t words = 0;
    next.getmem(&words, block, sizeof words, pe);
    std::vector<uint64_t> packed(std::min<uint64_t>(words, room));
    next.getmem(packed.data(), block + 1, packed.size() * sizeof(uint64_t), pe);
    details->add(pe, packed);
  }
}

}  // namespace

std::string library_line() {
  char name[SHMEM_MAX_NAME_LEN] = {};
  int major = 0, minor = 0;
  const auto get_name = reinterpret_cast<void (*)(char*)>(next_symbol("shmem_info_get_name"));
  const auto get_version =
      reinterpret_cast<void (*)(int*, int*)>(next_symbol("shmem_info_get_version"));
  if (get_name != nullptr) get_name(name);
  if (get_version != nullptr) get_version(&major, &minor);
  return std::string(name) + ", OpenSHMEM " + std::to_string(major) + "." + std::to_string(minor);
}

void report_prepare() {
  const Inside inside_library;
  context.report_scratch = next.malloc(sizeof(Message));
  if (context.report_scratch == nullptr && context.pe == 0)
    log(LogLevel::warning,
        "report: no symmetric memory for it (%zu bytes per PE); there will be none",
        sizeof(Message));
}

void report_write() {
  const Inside inside_library;
  auto* mine = static_cast<Message*>(context.report_scratch);
  fill(mine);
  ReportDetails details;
  gather_details(&details);
  next.barrier_all();
  if (context.pe == 0) {
    const std::string threads =
        thread_level_name(context.thread_level, {SHMEM_THREAD_SINGLE, SHMEM_THREAD_FUNNELED,
                                                 SHMEM_THREAD_SERIALIZED, SHMEM_THREAD_MULTIPLE});
    Report report = new_report(context.options, library_line(), network_model_label(), threads,
                               mine->wall_seconds);
    report.api = Api::openshmem;
    std::map<int64_t, WindowReport> rows;
    for (int pe = 0; pe < context.pes; ++pe) {
      Message message;
      next.getmem(&message, mine, sizeof message, pe);
      add(message, &report, &rows);
    }
    report.details = details;
    for (auto& [id, row] : rows) report.windows.push_back(std::move(row));
    write_report(report, context.options.report, context.pe);
  }
  next.barrier_all();
}

WindowReport report_of(const Channel& channel) {
  WindowReport report;
  report.id = static_cast<int>(channel.id());
  report.bypass = channel.obstacle() != nullptr ? channel.obstacle() : context.obstacle;
  channel.fill_counters(&report.counters);
  return report;
}

Counters process_counters() {
  Counters sum;
  for (const WindowReport& report : contexts_of_process()) sum += report.counters;
  return sum;
}

}  // namespace nearcache::shmem
