// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lcc {

enum class InputFormat { automatic, edge_list, matrix_market, csr };
enum class OutputFormat { text, binary };

struct Options {
  std::string input;  // path of the graph; empty: R-MAT
  InputFormat input_format = InputFormat::automatic;
  int rmat_scale = 0;
  std::uint64_t edge_factor = 16;
  std::uint64_t seed = 1;
  std::string output, json, csr;  // paths; empty: not written
  OutputFormat output_format = OutputFormat::text;
  int repeat = 1;
  std::uint64_t limit_vertices = 0;  // of each rank; 0: all
  bool progress = false;

  /// How a person would name the graph.
  std::string graph_name() const;
};

/// Either `options`, or a reason to stop: help, version (exit_code 0) or a bad command line, with the text to show.
struct CommandLine {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace lcc
