// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/options.h"

#include <map>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "common/promise.h"

namespace lcc {
namespace {

const std::map<std::string, OutputFormat> output_formats = {{"text", OutputFormat::text},
                                                            {"binary", OutputFormat::binary}};

void describe_output(CLI::App& app, Options& options) {
  auto* output = app.add_option("--output", options.output,
                                "Write degree, triangles and coefficient of every vertex")
                     ->option_text("FILE");
  app.add_option("--format", options.output_format, "Format of --output: text or binary [text]")
      ->transform(CLI::CheckedTransformer(output_formats).description(""))
      ->needs(output)
      ->option_text("FORMAT");
  app.add_option("--json", options.json, "Write a machine-readable summary")->option_text("FILE");
  app.add_option("--write-csr", options.csr, "Write the graph in the binary CSR format")
      ->option_text("FILE");
}

void describe_run(CLI::App& app, Options& options) {
  app.add_option("--repeat", options.repeat, "Count the triangles N times [1]")
      ->check(CLI::Range(1, 1000000).description(""))
      ->option_text("N");
  app.add_option("--limit-vertices", options.limit_vertices,
                 "Only the first N vertices of each rank (a sample)")
      ->check(CLI::PositiveNumber.description(""))
      ->option_text("N");
  app.add_flag(
      "--row-window", options.row_window,
      "Leave the row pointers with their owners: two gets per neighbour, offsets and list");
  app.add_flag_callback(
      "--no-promise", [] { apps::promise = false; }, "Tell a caching layer nothing: no info key");
  app.add_flag("--progress", options.progress, "Show progress on standard error");
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  Options options;
  CLI::App app(
      "Local clustering coefficients of an undirected graph, by MPI one-sided communication.",
      "lcc");
  app.set_version_flag("--version", "lcc " NEARCACHE_VERSION);
  add_source_options(app, options.source);
  describe_output(app, options);
  describe_run(app, options);
  return parse(app, argc, argv, options, [&] { require_source(options.source); });
}

}  // namespace lcc
