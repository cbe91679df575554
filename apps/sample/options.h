// SPDX-License-Identifier: BSD-3-Clause

// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/command_line.h"
#include "graph/source.h"

namespace sample {

using namespace apps;

struct Options {
  Source source;
  std::uint64_t feature_bytes = 512;
  std::vector<std::uint64_t> fan_outs = {10, 5};
  std::uint64_t batch = 64;    // seed vertices per minibatch
  std::uint64_t batches = 64;  // minibatches per epoch, distributed over the ranks
  std::uint64_t epochs = 1;
  std::uint64_t sample_seed = 1;
  bool whole_lists = false;
  bool progress = false;
  std::string json;  // path; empty: do not write
};

using CommandLine = apps::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace sample
