// Where a graph comes from, as the command line says it. MPI-free.
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
  bool unpermuted = false;  // R-MAT: hubs lie in the first block

  /// How a person would name the graph.
  std::string name() const;
};

/// Adds GRAPH, --input-format, --rmat, --edge-factor, --seed and --unpermuted to the options of a
/// program.
void add_source_options(CLI::App& app, Source& source);

/// To be called when the command line was parsed: throws CLI::RequiredError if it names no graph.
void require_source(const Source& source);

}  // namespace apps
