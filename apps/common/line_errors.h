// Errors of text files, with the number of the line, although no rank has read the lines before its
// own.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text_slice.h"

namespace apps {

/// The first line of a slice that could not be read. Lines of the slice count from 0.
struct LineError {
  std::uint64_t line;
  std::string message;
};

/// What a rank knows of its slice after parsing it: how many lines it has, if all were read.
struct SliceLines {
  std::uint64_t count = 0;
  std::optional<LineError> error;
};

/// Collective. Agrees on the first malformed line of the file, if any. `lines_before` is the number
/// of lines in front of the first rank's slice.
void agree_on_lines(MPI_Comm comm, const std::string& path, std::uint64_t lines_before,
                    const SliceLines& slice);

/// Calls `parse(line)`, which returns an error message or an empty text, for each line of `text`,
/// up to the first error.
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
