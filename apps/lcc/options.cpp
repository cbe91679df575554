#include "options.h"

#include <map>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

namespace lcc {
namespace {

const std::map<std::string, InputFormat> input_formats = {{"auto", InputFormat::automatic},
                                                          {"edge-list", InputFormat::edge_list},
                                                          {"matrix-market", InputFormat::matrix_market},
                                                          {"csr", InputFormat::csr}};
const std::map<std::string, OutputFormat> output_formats = {{"text", OutputFormat::text},
                                                            {"binary", OutputFormat::binary}};

void describe_input(CLI::App& app, Options& options) {
  auto* file = app.add_option("GRAPH", options.input, "File with an undirected graph");
  app.add_option("--input-format", options.input_format,
                 "auto (by content), edge-list, matrix-market or csr")
      ->transform(CLI::CheckedTransformer(input_formats).description(""))
      ->needs(file)
      ->option_text("FORMAT");
  auto* rmat = app.add_option("--rmat", options.rmat_scale, "Generate an R-MAT graph of 2^SCALE vertices instead")
                   ->check(CLI::Range(1, 62).description(""))
                   ->excludes(file)
                   ->option_text("SCALE");
  app.add_option("--edge-factor", options.edge_factor, "Edges per vertex of the R-MAT graph [16]")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20).description(""))
      ->needs(rmat)
      ->option_text("N");
  app.add_option("--seed", options.seed, "Seed of the R-MAT graph [1]")->needs(rmat)->option_text("N");
}

void describe_output(CLI::App& app, Options& options) {
  auto* output = app.add_option("--output", options.output, "Write degree, triangles and coefficient of every vertex")
                     ->option_text("FILE");
  app.add_option("--format", options.output_format, "Format of --output: text or binary [text]")
      ->transform(CLI::CheckedTransformer(output_formats).description(""))
      ->needs(output)
      ->option_text("FORMAT");
  app.add_option("--json", options.json, "Write a machine-readable summary")->option_text("FILE");
  app.add_option("--write-csr", options.csr, "Write the graph in the binary CSR format")->option_text("FILE");
}

void describe_run(CLI::App& app, Options& options) {
  app.add_option("--repeat", options.repeat, "Count the triangles N times [1]")
      ->check(CLI::Range(1, 1000000).description(""))
      ->option_text("N");
  app.add_option("--limit-vertices", options.limit_vertices, "Only the first N vertices of each rank (a sample)")
      ->check(CLI::PositiveNumber.description(""))
      ->option_text("N");
  app.add_flag("--progress", options.progress, "Show progress on standard error");
}

}  // namespace

std::string Options::graph_name() const {
  return input.empty() ? fmt::format("R-MAT scale {}, edge factor {}, seed {}", rmat_scale, edge_factor, seed) : input;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  Options options;
  CLI::App app("Local clustering coefficients of an undirected graph, by MPI one-sided communication.", "lcc");
  app.set_version_flag("--version", "lcc " NEARCACHE_VERSION);
  describe_input(app, options);
  describe_output(app, options);
  describe_run(app, options);
  try {
    app.parse(argc, argv);
    if (options.input.empty() && options.rmat_scale == 0) throw CLI::RequiredError("A graph file or --rmat SCALE");
    line.options = options;
  } catch (const CLI::Success& reason) {
    std::ostringstream text;
    app.exit(reason, text, text);
    line.text = text.str();
  } catch (const CLI::ParseError& error) {
    line.exit_code = 2;
    line.text = fmt::format("lcc: {} (lcc --help shows the options)\n", error.what());
  }
  return line;
}

}  // namespace lcc
