// The end-of-run report: gathered over ranks by a front end, rendered here as text or versioned
// JSON.
#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "telemetry/report_details.h"
#include "telemetry/stats.h"

namespace nearcache {

inline constexpr int report_version = 3;

// How the program was started, as rank 0 knows it; empty where it does not.
struct Launch {
  std::string command;  // the words of its command line
  std::string started;  // date and time, UTC, as in ISO 8601
  std::string job;      // the scheduler's or launcher's name for it
  std::string threads;  // the thread level: single, funneled, serialized or multiple
};

struct RankReport {
  double wall_seconds = 0;
  uint64_t node = 0;  // a number of its host's own
  Counters counters;
};

struct WindowReport {
  int id = 0;  // below 0: windows that were left alone, a row for each reason
  std::string name;
  std::string mode;
  std::string policy;
  int ranks = 0;
  std::string bypass;  // why nothing was cached; empty if it was
  // mode coherent: why it acts as transparent, or others keep nothing of some rank's memory; empty
  // if all is well
  std::string incoherent;
  // why a rank has a cache of its own in spite of option share; empty if all is well
  std::string unshared;
  int sharing = 0,
      shared_caches = 0;  // ranks that share caches with others of their node, and these
  Counters counters;      // summed over ranks
};

enum class Api : uint8_t { mpi, openshmem };

struct Report {
  Api api = Api::mpi;
  std::string library;  // the version line of the MPI or OpenSHMEM library
  std::string host;
  std::string program;
  Launch launch;
  std::string modelled;  // the network model's label, or empty
  Options options;
  std::vector<RankReport> ranks;
  std::vector<WindowReport> windows;
  ReportDetails details;
};

const char* version_text();

std::string report_json(const Report& report);
std::string report_text(const Report& report);

}  // namespace nearcache
