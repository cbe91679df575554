// SPDX-License-Identifier: BSD-3-Clause

// Reads the lines of a byte range of a text file, so that each rank reads its own part. MPI-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apps {

/// Returns the size in bytes of the regular file at `path`. Throws std::runtime_error with the path
/// and the reason if the file cannot be read.
std::uint64_t file_size(const std::string& path);

/// Reads up to `size` bytes at `offset`; fewer only at the end of the file. Throws like file_size.
std::string read_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size);

/// Returns the lines that *begin* in bytes [first, last) of the file, so that slices that tile the
/// file also tile its lines. The last line is complete even if it ends beyond the slice.
std::string read_lines(const std::string& path, std::uint64_t first, std::uint64_t last);

/// Removes the next line from `text` and returns it in `line` without its end ("\n" or "\r\n").
/// Returns false at the end.
bool next_line(std::string_view& text, std::string_view& line);

/// Removes and returns the next word of `line`; blanks, tabs and commas separate words. Returns an
/// empty word at the end of the line.
std::string_view next_word(std::string_view& line);

/// Returns at most 60 characters of a line for display, with unprintable ones replaced.
std::string excerpt(std::string_view line);

}  // namespace apps
