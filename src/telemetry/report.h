// SPDX-License-Identifier: BSD-3-Clause

// The end-of-run report: gathered from all ranks by a front end, rendered here as text or versioned
// JSON.
#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "telemetry/report_details.h"
#include "telemetry/stats.h"

namespace nearcache {

inline constexpr int report_version = 3;

// How the program was started, as far as rank 0 knows; unknown fields are empty.
struct Launch {
  std::string command;  // its command line
  std::string started;  // date and time, UTC, in ISO 8601 format
  std::string job;      // the scheduler's or launcher's name for it
  std::string threads;  // the thread level: single, funneled, serialized or multiple
};

struct RankReport {
  double wall_seconds = 0;
  uint64_t node = 0;  // a number that identifies its host
  Counters counters;
};

struct WindowReport {
  int64_t id = 0;  // (window_id.h); negative: a row for all windows left alone for one reason
  std::string name;
  std::string mode;
  std::string policy;
  int ranks = 0;
  std::string bypass;  // why nothing was cached; empty otherwise
  // mode coherent: why it acts as transparent, or why other ranks cache nothing of some rank's
  // memory; empty if neither
  std::string incoherent;
  // why a rank has a cache of its own in spite of option share; empty if none does
  std::string unshared;
  int sharing = 0,
      shared_caches = 0;  // ranks that share caches, and the number of these caches
  Counters counters;      // summed over ranks
};

enum class Api : uint8_t { mpi, openshmem };

struct Report {
  Api api = Api::mpi;
  std::string library;  // the version line of the MPI or OpenSHMEM library
  std::string host;
  std::string program;
  Launch launch;
  std::string modelled;  // label of the network model, or empty
  Options options;
  std::vector<RankReport> ranks;
  std::vector<WindowReport> windows;
  ReportDetails details;
};

const char* version_text();

std::string report_json(const Report& report);
std::string report_text(const Report& report);

}  // namespace nearcache
