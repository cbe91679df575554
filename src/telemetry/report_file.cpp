#include "telemetry/report_file.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "base/path_pattern.h"
#include "base/whole_file.h"

namespace nearcache {

std::string program_name() {
  char name[4096] = {};  // PATH_MAX
  const ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
  if (length <= 0) return "?";
  const char* slash = strrchr(name, '/');
  return slash == nullptr ? name : slash + 1;
}

Report new_report(const Options& options, std::string library, std::string modelled) {
  Report report;
  report.host = host_name();
  report.program = program_name();
  report.options = options;
  report.library = std::move(library);
  report.modelled = std::move(modelled);
  return report;
}

bool report_is_wanted(const std::string& where) { return !where.empty() && where != "0"; }
bool report_is_file(const std::string& where) {
  return report_is_wanted(where) && where != "1" && where != "-";
}

void write_report(const Report& report, const std::string& where, int rank) {
  if (!report_is_file(where)) {
    fputs(report_text(report).c_str(), stderr);
    return;
  }
  const std::string path = expand_path(where, rank);
  const std::string wrong = write_whole_file(path, report_json(report) + "\n");
  if (!wrong.empty())
    log(LogLevel::warning, "report: cannot write '%s': %s", path.c_str(), wrong.c_str());
}

}  // namespace nearcache
