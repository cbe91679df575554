// The report at the end: every PE's counters come to PE 0 through a small symmetric block.
#pragma once

#include <string>

#include "telemetry/report.h"

namespace nearcache::shmem {

class Channel;

// Takes the symmetric block; collective. Where there is none, there will be no report.
void report_prepare();

// Gathers and writes the report of option `report`; collective, and before the library ends.
void report_write();

// Name and version of the library below.
std::string library_line();

// What is reported of one context.
WindowReport report_of(const Channel& channel);

// The counters of this process, contexts that are gone included. With the channels' locks, one
// after the other.
Counters process_counters();

}  // namespace nearcache::shmem
