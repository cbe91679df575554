// The command line that these programs share, and what they print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rma_apps {

struct Options {
  std::string way;  // to communicate: one of those that the program has
  std::int64_t size = 0, rounds = 0;
  bool allocated = true;  // windows are of MPI_Win_allocate, else of MPI_Win_create
  std::int64_t ahead = 1;
};

struct Program {
  const char* name;
  const char* what;  // for --help
  std::vector<std::string> ways;
  const char* size;  // what it counts
  std::int64_t default_size, default_rounds;
  const char* ahead = nullptr;  // what may be under way at once; null: no such option
};

struct Parsed {
  int exit_code = -1;  // -1: run with the options
  std::string text;    // else: what to print
  Options options;
};

Parsed parse(const Program& program, int argc, char** argv);

struct Outcome {
  bool correct = false;
  std::uint64_t checksum = 0;   // the same for every way, MPI and run
  std::vector<double> seconds;  // of each round
};

// A line of JSON.
std::string text(const Program& program, const Options& options, int ranks, const Outcome& outcome);

}  // namespace rma_apps
