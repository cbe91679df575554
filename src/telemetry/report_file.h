// Writing the report to where the option `report` says.
#pragma once

#include <array>
#include <string>

#include "telemetry/report.h"

namespace nearcache {

// The name of the running program's file, without folders.
std::string program_name();

// A number by which processes of a host know each other in a report.
uint64_t node_number();

// "single" to "multiple", by the library's own numbers of the four in that order; empty for any
// other.
std::string thread_level_name(int level, const std::array<int, 4>& levels);

// Of this process' host, program and start, `seconds` ago; `threads`: the name of the thread level.
// Ranks and windows are to be added.
Report new_report(const Options& options, std::string library, std::string modelled,
                  std::string threads, double seconds);

// The values of option `report`: empty or 0, none; 1 or -, text on standard error; else the path of
// a JSON file.
bool report_is_wanted(const std::string& where);
bool report_is_file(const std::string& where);

// `rank` is the writer's, for the path.
void write_report(const Report& report, const std::string& where, int rank);

}  // namespace nearcache
