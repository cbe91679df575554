// SPDX-License-Identifier: BSD-3-Clause

// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <string>

#include "../common/command_line.h"

namespace barnes_hut {

enum class Model { plummer, uniform };

/// How nodes of other ranks are read: with a get and a flush each time, or through our own block
/// cache.
enum class Fetch { plain, native };

/// How a block is mapped to a line of the native cache: by a hash of rank and block (hash), or by
/// the block's position in the concatenated windows, modulo the number of lines (linear). `linear`
/// has no conflicts once the memory is as large as the windows of all other ranks, which two ranks
/// reach soon; with many ranks it conflicts as much as `hash`.
enum class Mapping { hash, linear };

struct Options {
  std::string input;  // path of the input file; empty: generate the bodies
  Model model = Model::plummer;
  std::uint64_t bodies = 1000;
  std::uint64_t seed = 1;
  double theta = 0.5, softening = 0.05, time_step = 0.01;
  int steps = 1;
  Fetch fetch = Fetch::plain;
  std::uint64_t native_memory = 1 << 20;
  std::uint64_t block = 512;
  Mapping mapping = Mapping::hash;
  bool check = false, progress = false;
  std::string output, json;  // paths; empty: do not write
  double interaction_ns = 0, native_hit_ns = 0, cache_hit_ns = 0, cache_miss_ns = 0;

  /// Returns a human-readable description of the input.
  std::string input_name() const;
};

/// Most bodies that --check accepts: direct summation over N bodies costs N^2 interactions per
/// step.
inline constexpr std::uint64_t most_checked = 20000;

using CommandLine = apps::CommandLine<Options>;

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace barnes_hut
