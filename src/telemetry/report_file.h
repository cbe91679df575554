// SPDX-License-Identifier: BSD-3-Clause

// Writes the report to where option `report` says.
#pragma once

#include <array>
#include <string>

#include "telemetry/report.h"

namespace nearcache {

// Returns the file name of the running program, without directories.
std::string program_name();

// Returns a number that identifies this host within a report.
uint64_t node_number();

// Returns "single" to "multiple" for a thread level. `levels` are the library's own numbers of the
// four levels, in that order; any other level gives an empty string.
std::string thread_level_name(int level, const std::array<int, 4>& levels);

// Returns a report that describes this process's host, program and start, which was `seconds` ago.
// `threads` is the name of the thread level. The caller adds ranks and windows.
Report new_report(const Options& options, std::string library, std::string modelled,
                  std::string threads, double seconds);

// Values of option `report`: empty or 0, no report; 1 or -, text on standard error; anything else,
// the path of a JSON file.
bool report_is_wanted(const std::string& where);
bool report_is_file(const std::string& where);

// `rank` is the writing rank, for the path.
void write_report(const Report& report, const std::string& where, int rank);

}  // namespace nearcache
