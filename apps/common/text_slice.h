// The lines of one byte range of a text file, so that every rank reads its own part. MPI-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apps {

/// Size in bytes of the regular file at `path`. Throws std::runtime_error with the path and the
/// reason if it cannot be read.
std::uint64_t file_size(const std::string& path);

/// Reads up to `size` bytes at `offset`; less only at the end of the file. Throws like file_size.
std::string read_bytes(const std::string& path, std::uint64_t offset, std::uint64_t size);

/// The lines that *begin* in bytes [first, last) of the file, so that slices that tile the file
/// tile its lines. The last line is complete, though it may end behind the slice.
std::string read_lines(const std::string& path, std::uint64_t first, std::uint64_t last);

/// Takes the next line off `text`, without its end ("\n" or "\r\n"). False at the end.
bool next_line(std::string_view& text, std::string_view& line);

/// Takes the next word off `line`; words are separated by blanks, tabs and commas. Empty at the
/// end.
std::string_view next_word(std::string_view& line);

/// At most 60 characters of a line that is to be shown to the user, unprintable ones replaced.
std::string excerpt(std::string_view line);

}  // namespace apps
