// SPDX-License-Identifier: BSD-3-Clause

// Errors in text files, reported with their line number although no rank has read the lines before
// its own slice.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text_slice.h"

namespace apps {

/// The first malformed line of a slice. Lines count from 0 within the slice.
struct LineError {
  std::uint64_t line;
  std::string message;
};

/// Result of parsing a rank's slice: the number of lines that were read, and the error that stopped
/// it, if any.
struct SliceLines {
  std::uint64_t count = 0;
  std::optional<LineError> error;
};

/// Collective. Fails on all ranks at the first malformed line of the file, if there is one.
/// `lines_before` is the number of lines before the first rank's slice.
void agree_on_lines(MPI_Comm comm, const std::string& path, std::uint64_t lines_before,
                    const SliceLines& slice);

/// Calls `parse(line)`, which returns an error message or an empty string, for each line of `text`,
/// until the first error.
template <class Parse>
SliceLines parse_lines(std::string_view text, Parse&& parse) {
  SliceLines slice;
  std::string_view line;
  while (next_line(text, line)) {
    if (std::string message = parse(line); !message.empty()) {
      slice.error = LineError{slice.count, std::move(message)};
      return slice;
    }
    ++slice.count;
  }
  return slice;
}

}  // namespace apps
