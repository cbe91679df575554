#include "telemetry/report_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/log.h"

namespace nearcache {

std::string program_name() {
  char name[256] = {};
  const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
  if (length <= 0) return "?";
  const char* slash = strrchr(name, '/');
  return slash == nullptr ? name : slash + 1;
}

void write_report(const Report& report, const std::string& where) {
  if (where == "1") {
    fputs(report_text(report).c_str(), stderr);
    return;
  }
  FILE* file = fopen(where.c_str(), "w");
  const std::string text = report_json(report) + "\n";
  const bool written = file != nullptr && fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file != nullptr && fclose(file) != 0) || !written)
    log(LogLevel::warning, "report: cannot write '%s': %s", where.c_str(), strerror(errno));
}

}  // namespace nearcache
