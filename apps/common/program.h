// SPDX-License-Identifier: BSD-3-Clause

// The body of main(): MPI, the command line, and errors that end all ranks.
#pragma once

#include <fmt/core.h>
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <string>

#include "agreement.h"

namespace apps {

/// Runs `run(comm, options)` unless `parse(argc, argv)` ends the program. `parse` returns `options`
/// or, without them, the `text` to print and an `exit_code`. Returns the exit code.
template <typename Parse, typename Run>
int program_in_mpi(const char* name, MPI_Comm comm, int argc, char** argv, Parse parse, Run run) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto line = parse(argc, argv);
  if (!line.options) {
    if (rank == 0) fmt::print(line.exit_code == 0 ? stdout : stderr, "{}", line.text);
    return line.exit_code;
  }
  try {
    run(comm, *line.options);
    return 0;
  } catch (const Agreed& error) {
    if (!error.message.empty()) fmt::print(stderr, "{}: {}\n", name, error.message);
    return 1;
  }
}

/// Like program_in_mpi(), but also calls MPI_Init and MPI_Finalize. Returns the exit code.
template <typename Parse, typename Run>
int program(const char* name, int argc, char** argv, Parse parse, Run run) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int code = 1;
  try {
    code = program_in_mpi(name, MPI_COMM_WORLD, argc, argv, parse, run);
  } catch (const std::exception& error) {
    // A collective call failed on this rank outside any stage. There is no way to tell the other
    // ranks.
    fmt::print(stderr, "{}: {}\n", name, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  std::fflush(nullptr);
  MPI_Finalize();
  return code;
}

}  // namespace apps
