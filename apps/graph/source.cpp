// SPDX-License-Identifier: BSD-3-Clause
#include "graph/source.h"

#include <map>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

namespace apps {
namespace {

const std::map<std::string, InputFormat> input_formats = {
    {"auto", InputFormat::automatic},
    {"edge-list", InputFormat::edge_list},
    {"matrix-market", InputFormat::matrix_market},
    {"csr", InputFormat::csr}};

}  // namespace

std::string Source::name() const {
  if (!input.empty()) return input;
  return fmt::format("R-MAT scale {}, edge factor {}, seed {}{}", rmat_scale, edge_factor, seed,
                     unpermuted ? ", unpermuted" : "");
}

void add_source_options(CLI::App& app, Source& source) {
  auto* file = app.add_option("GRAPH", source.input, "File with an undirected graph");
  app.add_option("--input-format", source.input_format,
                 "auto (by content), edge-list, matrix-market or csr")
      ->transform(CLI::CheckedTransformer(input_formats).description(""))
      ->needs(file)
      ->option_text("FORMAT");
  auto* rmat = app.add_option("--rmat", source.rmat_scale,
                              "Generate an R-MAT graph of 2^SCALE vertices instead")
                   ->check(CLI::Range(1, 62).description(""))
                   ->excludes(file)
                   ->option_text("SCALE");
  app.add_option("--edge-factor", source.edge_factor, "Edges per vertex of the R-MAT graph [16]")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20).description(""))
      ->needs(rmat)
      ->option_text("N");
  app.add_option("--seed", source.seed, "Seed of the R-MAT graph [1]")
      ->needs(rmat)
      ->option_text("N");
  app.add_flag("--unpermuted", source.unpermuted,
               "Keep the generator's order of vertices: high degrees first")
      ->needs(rmat);
}

void require_source(const Source& source) {
  if (source.input.empty() && source.rmat_scale == 0)
    throw CLI::RequiredError("A graph file or --rmat SCALE");
}

}  // namespace apps
