// SPDX-License-Identifier: BSD-3-Clause

// Writes a file completely or not at all.
#pragma once

#include <string>
#include <string_view>

namespace nearcache {

// Writes a regular file under a temporary name beside it and then renames it, so that a failure
// leaves the old file intact and no partial new one. If only the file itself is writable, or if it
// is not a regular file, writes it in place: without waiting for a FIFO's reader to appear, and for
// a second at most whenever a reader is slow. Returns an empty string, or what went wrong.
std::string write_whole_file(const std::string& path, std::string_view text);

}  // namespace nearcache
