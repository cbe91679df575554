// SPDX-License-Identifier: BSD-3-Clause

// The command line and the output shared by these programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rma_apps {

struct Options {
  std::string way;  // the way to communicate, one of Program::ways
  std::int64_t size = 0, rounds = 0;
  bool allocated = true;  // windows come from MPI_Win_allocate; otherwise from MPI_Win_create
  std::int64_t ahead = 1;
};

struct Program {
  const char* name;
  const char* what;  // for --help
  std::vector<std::string> ways;
  const char* size;  // help text: what --size counts
  std::int64_t default_size, default_rounds;
  const char* ahead = nullptr;  // help text: what --ahead counts; null: no such option
};

struct Parsed {
  int exit_code = -1;  // -1: run with the options
  std::string text;    // otherwise: the text to print
  Options options;
};

Parsed parse(const Program& program, int argc, char** argv);

struct Outcome {
  bool correct = false;
  std::uint64_t checksum = 0;   // the same for every way, MPI library and run
  std::vector<double> seconds;  // of each round
};

// Returns one line of JSON.
std::string text(const Program& program, const Options& options, int ranks, const Outcome& outcome);

}  // namespace rma_apps
