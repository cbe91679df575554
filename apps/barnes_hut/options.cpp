// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <bit>
#include <limits>
#include <map>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "../common/promise.h"

namespace barnes_hut {
namespace {

const std::map<std::string, Model> models = {{"plummer", Model::plummer},
                                             {"uniform", Model::uniform}};
const std::map<std::string, Fetch> fetches = {{"plain", Fetch::plain}, {"native", Fetch::native}};
const std::map<std::string, Mapping> mappings = {{"hash", Mapping::hash},
                                                 {"linear", Mapping::linear}};

const CLI::Validator at_least_zero = CLI::Range(0.0, 1e12).description("");
const CLI::Validator above_zero = CLI::Range(1e-12, 1e12).description("");

void describe_input(CLI::App& app, Options& options) {
  auto* file =
      app.add_option("--input", options.input, "File with a body a line: mass x y z vx vy vz")
          ->option_text("FILE");
  app.add_option("--model", options.model,
                 "plummer (sphere in equilibrium) or uniform (cube at rest) [plummer]")
      ->transform(CLI::CheckedTransformer(models).description(""))
      ->excludes(file)
      ->option_text("MODEL");
  app.add_option("--bodies", options.bodies, "How many bodies to generate [1000]")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40).description(""))
      ->excludes(file)
      ->option_text("N");
  app.add_option("--seed", options.seed, "Seed of the bodies [1]")
      ->excludes(file)
      ->option_text("N");
}

void describe_physics(CLI::App& app, Options& options) {
  app.add_option("--theta", options.theta,
                 "Opening angle: 0 opens every cell, larger is faster and coarser [0.5]")
      ->check(CLI::Range(0.0, 2.0).description(""))
      ->option_text("T");
  app.add_option("--softening", options.softening, "Softening length [0.05]")
      ->check(above_zero)
      ->option_text("LENGTH");
  app.add_option("--time-step", options.time_step, "Length of a step [0.01]")
      ->check(above_zero)
      ->option_text("TIME");
  app.add_option("--steps", options.steps, "Steps; there is one force phase more [1]")
      ->check(CLI::Range(0, 1000000).description(""))
      ->option_text("N");
}

std::string block_error(const std::string& word) {
  std::uint64_t bytes = 0;
  const bool good = CLI::detail::lexical_cast(word, bytes) && bytes >= 128 && bytes <= 1 << 20 &&
                    std::has_single_bit(bytes);
  return good ? "" : fmt::format("{} is not a power of two from 128 to 1048576", word);
}

void describe_fetch(CLI::App& app, Options& options) {
  app.add_option("--fetch", options.fetch,
                 "Remote cells by plain gets, or by the native block cache [plain]")
      ->transform(CLI::CheckedTransformer(fetches).description(""))
      ->option_text("HOW");
  app.add_flag_callback(
      "--no-promise", [] { apps::promise = false; },
      "Tell a caching layer nothing: no info key, no invalidation");
  app.add_option("--native-memory", options.native_memory,
                 "Memory of the native cache, with its tags [1048576]")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40).description(""))
      ->option_text("BYTES");
  app.add_option("--native-mapping", options.mapping,
                 "Line of a block: by hash, or linear (address modulo lines) [hash]")
      ->transform(CLI::CheckedTransformer(mappings).description(""))
      ->option_text("HOW");
  app.add_option("--block", options.block,
                 "Block of the native cache; no node of a tree crosses one [512]")
      ->check(CLI::Validator(block_error, ""))
      ->option_text("BYTES");
}

void describe_output(CLI::App& app, Options& options) {
  app.add_flag("--check", options.check,
               fmt::format("Compare with direct sums (at most {} bodies)", most_checked));
  app.add_option("--output", options.output, "Write position and velocity of every body")
      ->option_text("FILE");
  app.add_option("--json", options.json, "Write a machine-readable summary")->option_text("FILE");
  app.add_flag("--progress", options.progress, "Show progress on standard error");
}

void describe_virtual_time(CLI::App& app, Options& options) {
  const auto add = [&](const char* name, double& value, const char* help) {
    app.add_option(name, value, help)
        ->check(at_least_zero)
        ->option_text("NS")
        ->group("Virtual time (SimGrid only)");
  };
  add("--cost-per-interaction", options.interaction_ns, "Time of one interaction");
  add("--native-hit-cost", options.native_hit_ns, "Time of a hit in the native cache");
  add("--cache-hit-cost", options.cache_hit_ns, "Time of a hit in Nearcache");
  add("--cache-miss-cost", options.cache_miss_ns, "Time of a miss in Nearcache, beyond the get");
}

}  // namespace

std::string Options::input_name() const {
  if (!input.empty()) return input;
  return fmt::format("{}, {} bodies, seed {}",
                     model == Model::plummer ? "Plummer sphere" : "uniform cube", bodies, seed);
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Barnes-Hut simulation of gravitating bodies, by MPI one-sided communication.",
               "barnes_hut");
  app.set_version_flag("--version", "barnes_hut " NEARCACHE_VERSION);
  describe_input(app, options);
  describe_physics(app, options);
  describe_fetch(app, options);
  describe_output(app, options);
  describe_virtual_time(app, options);
  return apps::parse(app, argc, argv, options, [&] {
    if (options.fetch == Fetch::native && options.native_memory < options.block + 16) {
      throw CLI::ValidationError("--native-memory",
                                 fmt::format("{} holds no block of {} bytes and its tag of 16",
                                             options.native_memory, options.block));
    }
  });
}

}  // namespace barnes_hut
