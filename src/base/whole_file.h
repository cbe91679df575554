// Writes a file whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace nearcache {

// A regular file is written beside and then takes its name, so that a failure leaves what was there
// before, and no part of the new one. Where only the file itself may be written, and into what is
// no regular file, it is written as it is: without waiting for a reader of a FIFO to come, and no
// longer than a second for a slow one. Returns what went wrong, or "".
std::string write_whole_file(const std::string& path, std::string_view text);

}  // namespace nearcache
