// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report_file.h"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
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

uint64_t node_number() { return std::hash<std::string>()(host_name()); }

namespace {

std::string in_quotes(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// Returns the command line, quoted for a shell; long ones are cut.
std::string command_line() {
  constexpr size_t most = 4096;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string word; text.size() < most && std::getline(file, word, '\0');) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"'\\$`*?&|;<>(){}[]~#!") == std::string::npos;
    if (!text.empty()) text += ' ';
    text += plain ? word : in_quotes(word);
  }
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

std::string time_before(double seconds) {
  const time_t then = time(nullptr) - static_cast<time_t>(seconds);
  tm parts{};
  char text[32] = {};
  if (gmtime_r(&then, &parts) != nullptr) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

std::string thread_level_name(int level, const std::array<int, 4>& levels) {
  static constexpr const char* names[] = {"single", "funneled", "serialized", "multiple"};
  for (size_t i = 0; i < levels.size(); ++i) {
    if (level == levels[i]) return names[i];
  }
  return "";
}

Report new_report(const Options& options, std::string library, std::string modelled,
                  std::string threads, double seconds) {
  Report report;
  report.launch.command = command_line();
  report.launch.started = time_before(seconds);
  report.launch.job = given_job_name();
  report.launch.threads = std::move(threads);
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
