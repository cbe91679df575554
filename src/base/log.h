// SPDX-License-Identifier: BSD-3-Clause

// Messages to the user on standard error; each is one line that begins with "nearcache:".
#pragma once

namespace nearcache {

enum class LogLevel { warning = 1, info = 2 };

// Sets the most verbose level that is printed (option `verbose`); 0 silences everything.
void set_log_level(int level);
void log(LogLevel level, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace nearcache
