// SPDX-License-Identifier: BSD-3-Clause

// The report at the end of the run: PE 0 gathers all PEs' counters through a small symmetric block.
#pragma once

#include <string>

#include "telemetry/report.h"

namespace nearcache::shmem {

class Channel;

// Allocates the symmetric block; collective. If that fails, there will be no report.
void report_prepare();

// Gathers and writes the report of option `report`; collective, and called before the library is
// finalised.
void report_write();

// Name and version of the OpenSHMEM library below.
std::string library_line();

// The report's row for one context.
WindowReport report_of(const Channel& channel);

// The counters of this process, destroyed contexts included. Takes the channels' locks, one after
// another.
Counters process_counters();

}  // namespace nearcache::shmem
