// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/rank_trace.h"

#include "base/log.h"
#include "base/path_pattern.h"

namespace nearcache {

bool RankTrace::start(const std::string& pattern, const TraceOrigin& origin) {
  path_ = expand_path(pattern, static_cast<int>(origin.rank)) + "." + std::to_string(origin.rank) +
          ".nctrace";
  const std::string wrong = open(path_, origin);
  if (!wrong.empty())
    log(LogLevel::warning, "trace: cannot write '%s': %s", path_.c_str(), wrong.c_str());
  return wrong.empty();
}

void RankTrace::stop(const char* who, int number) {
  const std::string wrong = close();
  if (!wrong.empty())
    log(LogLevel::warning, "trace: '%s' is incomplete: %s", path_.c_str(), wrong.c_str());
  if (dropped() > 0)
    log(LogLevel::warning,
        "trace: %llu records of %s %d were dropped: the disk was slower than the program",
        static_cast<unsigned long long>(dropped()), who, number);
}

}  // namespace nearcache
