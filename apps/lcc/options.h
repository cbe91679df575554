// SPDX-License-Identifier: BSD-3-Clause

// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/source.h"

namespace lcc {

using namespace apps;

enum class OutputFormat { text, binary };

struct Options {
  Source source;
  std::string output, json, csr;  // paths; empty: do not write
  OutputFormat output_format = OutputFormat::text;
  int repeat = 1;
  std::uint64_t limit_vertices = 0;  // per rank; 0: all
  bool row_window = false;
  bool progress = false;
};

/// Either `options`, or an early exit: help, version (exit_code 0) or a bad command line, with the
/// text to print.
struct CommandLine {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace lcc
