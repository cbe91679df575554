// Writing the report to where the option `report` says.
#pragma once

#include <string>

#include "telemetry/report.h"

namespace nearcache {

// The name of the running program's file, without folders.
std::string program_name();

// Of this process' host and program; ranks and windows are to be added.
Report new_report(const Options& options, std::string library, std::string modelled);

// The values of option `report`: empty or 0, none; 1 or -, text on standard error; else the path of
// a JSON file.
bool report_is_wanted(const std::string& where);
bool report_is_file(const std::string& where);

// `rank` is the writer's, for the path.
void write_report(const Report& report, const std::string& where, int rank);

}  // namespace nearcache
