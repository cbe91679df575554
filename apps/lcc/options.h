// SPDX-License-Identifier: BSD-3-Clause

// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <string>

#include "common/command_line.h"
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

using CommandLine = apps::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace lcc
