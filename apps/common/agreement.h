// SPDX-License-Identifier: BSD-3-Clause

// Errors that all ranks learn about together.
//
// If one rank fails alone and leaves the others in a collective call, the program hangs. Programs
// are therefore sequences of stages: local work inside together(), which ends with an agreement of
// all ranks, and collective calls between the stages. If any rank fails, every rank throws Agreed,
// only the lowest failing rank prints its message, and all ranks finalize and return non-zero.
#pragma once

#include <mpi.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace apps {

/// Thrown inside a stage by a rank that cannot continue. The text is for the user.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by agree() on every rank. `message` is empty on all ranks but the reporting one.
struct Agreed {
  std::string message;
};

/// Throws Failure with the MPI library's error text if `code` is not MPI_SUCCESS.
void check(int code, const char* call);

/// Collective. Returns if `error` is empty on every rank; otherwise throws Agreed on every rank.
void agree(MPI_Comm comm, const std::string& error);

/// Runs `stage` and returns the text of the exception that it threw, or an empty string.
template <class Stage>
std::string error_of(Stage&& stage) {
  try {
    stage();
    return {};
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::length_error&) {
    return "out of memory";  // thrown by std::vector for a size beyond the address space
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Collective. Runs `stage`, which must not call collectives, then agrees on whether it succeeded.
template <class Stage>
auto together(MPI_Comm comm, Stage&& stage) {
  using Result = std::invoke_result_t<Stage>;
  if constexpr (std::is_void_v<Result>) {
    agree(comm, error_of(stage));
  } else {
    std::optional<Result> result;
    agree(comm, error_of([&] { result.emplace(stage()); }));
    return std::move(*result);
  }
}

}  // namespace apps
