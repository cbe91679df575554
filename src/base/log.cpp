// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace nearcache {

static std::atomic<int> log_level{1};

void set_log_level(int level) { log_level = level; }

void log(LogLevel level, const char* format, ...) {
  if (static_cast<int>(level) > log_level.load(std::memory_order_relaxed)) return;
  char line[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  fprintf(stderr, "nearcache: %s\n", line);
}

}  // namespace nearcache
