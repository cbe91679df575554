// The command line. MPI-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace barnes_hut {

enum class Model { plummer, uniform };

/// How a node of another rank is read: a get and a flush each time, or through a block cache of our
/// own.
enum class Fetch { plain, native };

/// The line of a block in the native cache: by a hash of rank and block, or by the block's place in
/// all windows one after another, modulo the number of lines. The latter has no conflicts once the
/// memory is as large as the windows of all other ranks, which on two ranks is soon; with many
/// ranks it conflicts as the other does.
enum class Mapping { hash, linear };

struct Options {
  std::string input;  // path of the bodies; empty: generated
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
  std::string output, json;  // paths; empty: not written
  double interaction_ns = 0, native_hit_ns = 0, cache_hit_ns = 0, cache_miss_ns = 0;

  /// How a person would name the bodies.
  std::string input_name() const;
};

/// Bodies that --check takes: the direct sum of N bodies costs N^2 interactions a step.
inline constexpr std::uint64_t most_checked = 20000;

/// Either `options`, or a reason to stop: help, version (exit_code 0) or a bad command line, with
/// the text to show.
struct CommandLine {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace barnes_hut
