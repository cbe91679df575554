// Where a report goes, and what it says of the program that made it.
#pragma once

#include <string>

#include "telemetry/report.h"

namespace nearcache {

// The file name of the running program, "?" if the system does not tell.
std::string program_name();

// Prints the report on standard error (`where` is 1), or writes it to the path `where` as JSON; says so if it cannot.
void write_report(const Report& report, const std::string& where);

}  // namespace nearcache
