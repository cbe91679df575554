// SPDX-License-Identifier: BSD-3-Clause

// The source of a graph, as given on the command line. MPI-free.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace apps {

enum class InputFormat { automatic, edge_list, matrix_market, csr };

struct Source {
  std::string input;  // path of the graph; empty: R-MAT
  InputFormat input_format = InputFormat::automatic;
  int rmat_scale = 0;
  std::uint64_t edge_factor = 16;
  std::uint64_t seed = 1;
  bool unpermuted = false;  // R-MAT: vertices of high degree stay in the first block

  /// Returns a human-readable name of the graph.
  std::string name() const;
};

/// Adds GRAPH, --input-format, --rmat, --edge-factor, --seed and --unpermuted to a program's
/// options.
void add_source_options(CLI::App& app, Source& source);

/// Throws CLI::RequiredError if the parsed command line names no graph.
void require_source(const Source& source);

}  // namespace apps
