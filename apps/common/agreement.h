// Errors that all ranks learn of together.
//
// A rank that fails alone and leaves the others in a collective call makes the program hang. So the
// program is a sequence of stages: local work inside together(), which ends in an agreement of all
// ranks, and collective calls between the stages. When any rank failed, every rank throws Agreed,
// the lowest failing rank alone prints its message, and all ranks finalize and return non-zero.
#pragma once

#include <mpi.h>

#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace apps {

/// Thrown inside a stage by the rank that cannot go on. The text is for the user.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Thrown by agree() on every rank. `message` is empty on all ranks but the one that reports.
struct Agreed {
  std::string message;
};

/// Throws Failure with the MPI library's own words if `code` is not MPI_SUCCESS.
void check(int code, const char* call);

/// Collective. Returns if `error` is empty on every rank, else throws Agreed on every rank.
void agree(MPI_Comm comm, const std::string& error);

/// The text of the error that `stage` ended with, empty if it went well.
template <class Stage>
std::string error_of(Stage&& stage) {
  try {
    stage();
    return {};
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::length_error&) {
    return "out of memory";  // what std::vector says of a size beyond the address space
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Collective. Runs `stage`, which must not communicate collectively, then agrees on how it went.
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
