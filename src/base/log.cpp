// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace nearcache {

static std::atomic<int> log_level{1};

void set_log_level(int level) { log_level = level; }

void log(LogLevel level, const char* format, ...) {
  if (static_cast<int>(level) > log_level.load(std::memory_order_relaxed)) return;
  constexpr char begin[] = "nearcache: ";
  char line[1024];
  memcpy(line, begin, sizeof begin);
  va_list args;
  va_start(args, format);
  vsnprintf(line + sizeof begin - 1, sizeof line - sizeof begin, format, args);
  va_end(args);
  // One write, so that lines of several ranks do not mix: fprintf makes several (glibc 2.37).
  strcat(line, "\n");
  fputs(line, stderr);
}

}  // namespace nearcache
