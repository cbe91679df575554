// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/link_model.h"
#include "base/text.h"
#include "telemetry/report.h"
#include "telemetry/window_id.h"

namespace nearcache::simulate {
namespace {

constexpr double automatic_index = 1.5;  // times the distinct keys: then the index is no limit

struct Texts {
  std::vector<std::string> policies{"rate"}, storages{"25%"}, indexes{"auto"}, windows, set;
  std::string mode = "as-traced", model;
  bool no_bounds = false, progress = false, curve = false, summary = false, safety = false;
  bool points = false;  // given
};

bool set_policies(const std::vector<std::string>& names, StudyOptions* study, std::string* wrong) {
  for (const std::string& name : names) {
    Options options;
    *wrong = options.set("policy", name);
    if (!wrong->empty()) return false;
    study->policies.push_back(options.policy);
  }
  return true;
}

bool set_amounts(const char* flag, const std::vector<std::string>& texts, char unit,
                 std::vector<Amount>* amounts, std::string* wrong) {
  for (const std::string& text : texts) {
    if (parse_amount(text, unit, &amounts->emplace_back())) continue;
    *wrong = fmt::format("{}: '{}' is not allowed; allowed: {}", flag, text,
                         unit == 'b' ? "bytes (1M, 512k), or a share of the distinct bytes (25%)"
                                     : "a number of entries from 1 to 268435456, or auto");
    return false;
  }
  return true;
}

bool set_windows(const std::vector<std::string>& labels, StudyOptions* study, std::string* wrong) {
  for (const std::string& label : labels) {
    int64_t id = 0;
    if (!parse_window_label(label, &id)) {
      *wrong = fmt::format(
          "--window: '{}' is not allowed; allowed: the window's number, or RANK:NUMBER", label);
      return false;
    }
    study->selection.window_ids.push_back(static_cast<uint64_t>(id));
  }
  return true;
}

bool set_mode(const std::string& name, StudyOptions* study, std::string* wrong) {
  if (name == "as-traced") return true;
  for (const Mode mode : {Mode::transparent, Mode::coherent, Mode::always, Mode::user}) {
    if (name == mode_name(mode)) study->selection.mode = mode;
  }
  if (!study->selection.mode)
    *wrong = fmt::format(
        "--mode: '{}' is not allowed; allowed: as-traced, transparent, coherent, always, user",
        name);
  return wrong->empty();
}

bool set_model(const std::string& text, StudyOptions* study, std::string* wrong) {
  if (text.empty()) return true;
  Cost cost;
  if (!parse_link(text, &cost.latency_ns, &cost.ns_per_byte)) {
    *wrong = fmt::format("--model: '{}' is not allowed; allowed: {}", text, parse_link_allowed);
    return false;
  }
  study->model = cost;
  return true;
}

// Returns the command's own flag for an option of the library, or an empty string if it is set by
// --set.
std::string_view flag_of(std::string_view option) {
  for (const auto& [name, flag] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"policy", "--policy"},
           {"storage", "--storage"},
           {"index", "--index"},
           {"mode", "--mode"},
           {"adaptive", "--adaptive"},
           {"model", "--model"},
           {"strict_flush", "--strict-flush"},
           {"share", "--ranks-per-node or --by-host"}})
    if (option == name) return flag;
  return {};
}

// Returns true for options that a replay reads. The others are about what a trace already contains,
// or about running programs.
bool matters(std::string_view option) {
  constexpr std::string_view read[] = {
      "max_storage",
      "max_get",
      "skip_cheap",
      "sample",
      "anchors",
      "coherent_ranks",
      "adapt_interval",
      "conflict_threshold",
      "capacity_threshold",
      "sparsity_threshold",
      "stable_threshold",
      "free_threshold",
      "index_increase",
      "index_decrease",
      "storage_increase",
      "storage_decrease",
      "shmem_size",
      "shmem_page",
      "shmem_line",
      "shmem_dirty_pages",
      "shmem_readahead",
      "shmem_max_transfer",
  };
  return std::ranges::find(read, option) != std::end(read);
}

bool set_library(const std::vector<std::string>& settings, StudyOptions* study,
                 std::string* wrong) {
  // instead of this machine's memory: results must not depend on where they are computed
  study->library.max_storage = uint64_t{1} << 30;
  for (const std::string& setting : settings) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    if (const std::string_view flag = flag_of(name); !flag.empty())
      *wrong = fmt::format("--set: '{}' cannot be set here; use {}", name, flag);
    else
      *wrong = equals == std::string::npos ? "--set: NAME=VALUE is expected, not '" + setting + "'"
                                           : study->library.set(name, setting.substr(equals + 1));
    if (wrong->empty() && !matters(name))
      *wrong = fmt::format("--set: '{}' has no effect on a replay", name);
    if (!wrong->empty()) return false;
  }
  return true;
}

std::string apply(const Texts& texts, Arguments* arguments) {
  std::string wrong;
  StudyOptions& study = arguments->study;
  if (texts.curve + texts.summary + texts.safety > 1)
    return "--curve, --summary and --safety are different outputs: ask for one";
  arguments->task = texts.summary  ? Task::summary
                    : texts.curve  ? Task::curve
                    : texts.safety ? Task::safety
                                   : Task::study;
  study.bounds = !texts.no_bounds;
  study.show_progress = texts.progress || isatty(STDERR_FILENO) != 0;
  if (!set_policies(texts.policies, &study, &wrong) ||
      !set_amounts("--storage", texts.storages, 'b', &study.storages, &wrong) ||
      !set_amounts("--index", texts.indexes, 'n', &study.indexes, &wrong) ||
      !set_windows(texts.windows, &study, &wrong) || !set_mode(texts.mode, &study, &wrong) ||
      !set_model(texts.model, &study, &wrong) || !set_library(texts.set, &study, &wrong))
    return wrong;
  if (study.shares() && arguments->task != Task::study)
    return std::string(study.by_host ? "--by-host" : "--ranks-per-node") +
           " is for the table: --curve, --summary and --safety treat ranks separately";
  if (study.by_host && study.ranks_per_node > 1)
    return "--by-host and --ranks-per-node: give only one of them";
  if (texts.curve && study.policies.size() > 1) return "--curve: one policy at a time";
  if (!arguments->csv.empty() && arguments->task != Task::study)
    return "--csv is for the table: --curve, --summary and --safety are JSON";
  if (arguments->csv == "-" && arguments->json == "-")
    return "--csv and --json: only one of them can be standard output";
  if (texts.points && !texts.curve) return "--points is for --curve";
  return {};
}

}  // namespace

bool parse_amount(const std::string& text, char unit, Amount* amount) {
  amount->text = text;
  if (unit == 'n' && text == "auto") {
    amount->relative = true;
    amount->share = automatic_index;
    return true;
  }
  if (unit == 'b' && text.ends_with('%')) {
    amount->relative = true;
    if (!parse_ratio(text.substr(0, text.size() - 1), &amount->share) || amount->share > 1e6)
      return false;
    amount->share /= 100;
    return true;
  }
  const bool good =
      unit == 'b' ? parse_bytes(text, &amount->value) : parse_count(text, &amount->value);
  // what the engine can hold, as options `storage` and `index` have it
  constexpr uint64_t most_storage = uint64_t{32} << 30, most_index = uint64_t{1} << 28;
  return good && (unit == 'b' ? amount->value <= most_storage
                              : amount->value >= 1 && amount->value <= most_index);
}

std::optional<int> parse_arguments(int argc, char** argv, Arguments* arguments) {
  CLI::App app(
      "Replays traces of gets through Nearcache's own cache: what would it save, by policy, "
      "storage and index?",
      "nearcache-simulate");
  Texts texts;
  StudyOptions& study = arguments->study;
  app.add_option("traces", study.traces, "Traces, one per rank")->required()->type_name("TRACE");
  // Several values are given in one word, so that a trace after them is not taken for a value.
  const auto list = [&app](const char* flag, auto& values, const char* help) {
    return app.add_option(flag, values, help)->delimiter(',')->allow_extra_args(false);
  };
  std::vector<const CLI::Option*> of_windows;  // options that OpenSHMEM's page cache lacks
  of_windows.push_back(
      list("--policy", texts.policies, "Policies, by the library's names")->capture_default_str());
  CLI::Option* storage = list("--storage", texts.storages,
                              "Storage of a window, in bytes or in per cent of its distinct bytes")
                             ->capture_default_str();
  of_windows.push_back(
      list("--index", texts.indexes, "Entries of the index; auto: 1.5 times the distinct keys")
          ->capture_default_str());
  of_windows.push_back(
      app.add_option("--mode", texts.mode, "as-traced, transparent, coherent, always or user")
          ->capture_default_str());
  list("--window", texts.windows, "Only this window, as reports name it; may be repeated")
      ->type_name("ID");
  of_windows.push_back(
      app.add_flag("--strict-flush", study.selection.strict_flush,
                   "Mode transparent: every completion is an acquire, though nobody writes"));
  of_windows.push_back(app.add_flag(
      "--adaptive", study.adaptive,
      "Let index and storage adapt from there, as the library does, up to max_storage (1G)"));
  app.add_option(
         "--ranks-per-node", study.ranks_per_node,
         "Ranks that share one cache of a window (option share), as large as their own together")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_flag("--by-host", study.by_host,
               "The same for the ranks whose traces name the same host, however many there are");
  app.add_option("--model", texts.model,
                 "Cost of a get of n bytes: L + G*n ns, instead of what the trace measured")
      ->type_name("L,G");
  list("--set", texts.set, "Any other option of the library; may be repeated")
      ->delimiter(';')
      ->type_name("NAME=VALUE");
  app.add_flag("--no-bounds", texts.no_bounds,
               "Leave out the infinite cache, the best fixed set and the clairvoyant schedule");
  app.add_flag("--curve", texts.curve,
               "Print, as JSON, the savings by storage size, up to all distinct bytes");
  const CLI::Option* points =
      app.add_option("--points", arguments->curve_points, "--curve: number of storages")
          ->check(CLI::Range(2u, 1000u))
          ->default_val(22u);
  app.add_flag("--summary", texts.summary, "Print, as JSON, a summary of the traces");
  app.add_flag("--safety", texts.safety,
               "Print, as JSON, in which mode gets would have been served old data");
  app.add_option("--csv", arguments->csv, "Write the table there")->type_name("FILE");
  app.add_option("--json", arguments->json, "Write the result there; - is standard output")
      ->type_name("FILE");
  app.add_flag("--progress", texts.progress,
               "Show progress even if standard error is not a terminal");
  app.set_version_flag("--version", version_text());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  study.storages_given = storage->count() > 0;
  for (const CLI::Option* option : of_windows)
    if (option->count() > 0) arguments->of_windows = option->get_name();
  texts.points = points->count() > 0;
  const std::string wrong = apply(texts, arguments);
  if (wrong.empty()) return std::nullopt;
  fmt::print(stderr, "nearcache-simulate: {}\n", wrong);
  return 2;
}

}  // namespace nearcache::simulate
