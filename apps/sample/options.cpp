// SPDX-License-Identifier: BSD-3-Clause
#include "sample/options.h"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

namespace sample {
namespace {

// A row must not exceed the range of an int, nor a fan-out the memory of one rank.
constexpr std::uint64_t most_feature_bytes = 1 << 20, most_fan_out = 1000, most_steps = 1 << 24;

void describe_sampling(CLI::App& app, Options& options) {
  app.add_option("--feature-bytes", options.feature_bytes,
                 "Bytes of the feature row of a vertex, a multiple of 8 [512]")
      ->check(CLI::Range(std::uint64_t{8}, most_feature_bytes).description(""))
      ->option_text("N");
  app.add_option("--fan-out", options.fan_outs,
                 "Neighbours sampled of a vertex, for every hop [10,5]")
      ->delimiter(',')
      ->check(CLI::Range(std::uint64_t{1}, most_fan_out).description(""))
      ->option_text("N,...");
  app.add_option("--batch", options.batch, "Seed vertices of a minibatch [64]")
      ->check(CLI::Range(std::uint64_t{1}, most_steps).description(""))
      ->option_text("N");
  app.add_option("--batches", options.batches,
                 "Minibatches of an epoch, shared out among the ranks [64]")
      ->check(CLI::Range(std::uint64_t{1}, most_steps).description(""))
      ->option_text("N");
  app.add_option("--epochs", options.epochs, "Epochs: the same seeds again, other neighbours [1]")
      ->check(CLI::Range(std::uint64_t{1}, most_steps).description(""))
      ->option_text("N");
  app.add_option("--sample-seed", options.sample_seed, "Seed of the sampling [1]")
      ->option_text("N");
  app.add_flag("--whole-lists", options.whole_lists,
               "Fetch whole adjacency lists and sample locally, instead of fetching the sampled "
               "entries only");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Neighbour sampling with feature rows, by MPI one-sided communication.", "sample");
  app.set_version_flag("--version", "sample " NEARCACHE_VERSION);
  add_source_options(app, options.source);
  describe_sampling(app, options);
  app.add_option("--json", options.json, "Write a machine-readable summary")->option_text("FILE");
  app.add_flag("--progress", options.progress, "Show progress on standard error");
  return parse(app, argc, argv, options, [&] {
    require_source(options.source);
    if (options.feature_bytes % 8 != 0)
      throw CLI::ValidationError("--feature-bytes", "not a multiple of 8");
  });
}

}  // namespace sample
