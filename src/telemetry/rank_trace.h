// SPDX-License-Identifier: BSD-3-Clause

// The trace of this rank or PE, as option `trace` asks for it: where it is, and what is said of it.
#pragma once

#include <string>

#include "telemetry/trace_writer.h"

namespace nearcache {

class RankTrace : public TraceWriter {
 public:
  // `pattern` is the option's value. Returns false, and says why, if there will be no trace.
  bool start(const std::string& pattern, const TraceOrigin& origin);
  // Closes the trace, and says what is missing in it. `who`: "rank" or "PE".
  void stop(const char* who, int number);

 private:
  std::string path_;
};

}  // namespace nearcache
