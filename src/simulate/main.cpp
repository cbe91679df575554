// SPDX-License-Identifier: BSD-3-Clause

// nearcache-simulate: replays traces through the library's own engine.
#include <fmt/core.h>

#include <cstring>
#include <exception>

#include "simulate/curve.h"
#include "simulate/options.h"
#include "simulate/output.h"
#include "simulate/pages.h"
#include "simulate/safety.h"
#include "simulate/summary.h"

namespace nearcache::simulate {
namespace {

// Writes to a file, or to standard output if `path` is "-". Returns an empty string, or what went
// wrong.
std::string write_text(const std::string& path, const std::string& text) {
  FILE* file = path == "-" ? stdout : fopen(path.c_str(), "w");
  if (file == nullptr) return fmt::format("{}: {}", path, strerror(errno));
  bool good = fwrite(text.data(), 1, text.size(), file) == text.size();
  good = (file == stdout ? fflush(file) : fclose(file)) == 0 && good;
  return good ? "" : fmt::format("{}: {}", path, strerror(errno));
}

std::string study(const Arguments& arguments) {
  Study study;
  std::string wrong = run_study(arguments.study, &study);
  if (!wrong.empty()) return wrong;
  fmt::print(stderr, "{}", notes_on(study.traces));
  if (!arguments.csv.empty()) wrong = write_text(arguments.csv, study_csv(arguments.study, study));
  if (wrong.empty() && !arguments.json.empty())
    wrong = write_text(arguments.json, study_json(arguments.study, study));
  if (wrong.empty() && arguments.json != "-" && arguments.csv != "-")
    wrong = write_text("-", study_text(arguments.study, study));
  return wrong;
}

std::string curve(const Arguments& arguments) {
  Curves curves;
  std::string wrong = run_curves(arguments.study, arguments.curve_points, &curves);
  if (!wrong.empty()) return wrong;
  fmt::print(stderr, "{}", notes_on(curves.traces));
  return write_text(arguments.json.empty() ? "-" : arguments.json,
                    curves_json(arguments.study, curves));
}

std::string summary(const Arguments& arguments) {
  Summaries summaries;
  std::string wrong = run_summary(arguments.study, &summaries);
  if (!wrong.empty()) return wrong;
  fmt::print(stderr, "{}", notes_on(summaries.traces));
  return write_text(arguments.json.empty() ? "-" : arguments.json, summary_json(summaries));
}

std::string safety(const Arguments& arguments) {
  Safety safety;
  std::string wrong = run_safety(arguments.study, &safety);
  if (!wrong.empty()) return wrong;
  fmt::print(stderr, "{}", notes_on(safety.traces));
  return write_text(arguments.json.empty() ? "-" : arguments.json, safety_json(safety));
}

std::string pages(const Arguments& arguments) {
  if (arguments.task != Task::study)
    return "--curve and --safety are for traces of MPI; for OpenSHMEM ask by --storage 64k,1M,16M, "
           "and run the program with shmem_check";
  if (!arguments.of_windows.empty())
    return arguments.of_windows +
           " is for traces of MPI: OpenSHMEM's page cache has --storage and --set shmem_...";
  if (arguments.study.shares())
    return "--ranks-per-node and --by-host are for traces of MPI: OpenSHMEM's pages are each PE's "
           "own";
  PageStudy study;
  std::string wrong = run_pages(arguments.study, &study);
  if (!wrong.empty()) return wrong;
  fmt::print(stderr, "{}", notes_on(study.traces));
  if (!arguments.csv.empty()) wrong = write_text(arguments.csv, pages_csv(study));
  if (wrong.empty() && !arguments.json.empty())
    wrong = write_text(arguments.json, pages_json(study));
  if (wrong.empty() && arguments.json != "-" && arguments.csv != "-")
    wrong = write_text("-", pages_text(study));
  return wrong;
}

std::string perform(const Arguments& arguments) {
  bool of_openshmem = false;
  std::string wrong = are_pages(arguments.study, &of_openshmem);
  if (!wrong.empty()) return wrong;
  if (of_openshmem && arguments.task != Task::summary) return pages(arguments);
  switch (arguments.task) {
    case Task::study:
      return study(arguments);
    case Task::curve:
      return curve(arguments);
    case Task::summary:
      return summary(arguments);
    case Task::safety:
      return safety(arguments);
  }
  return {};
}

}  // namespace
}  // namespace nearcache::simulate

int main(int argc, char** argv) {
  using namespace nearcache::simulate;
  Arguments arguments;
  if (const auto code = parse_arguments(argc, argv, &arguments)) return *code;
  std::string wrong;
  try {
    wrong = perform(arguments);
  } catch (const std::exception& error) {  // usually out of memory
    wrong = error.what();
  }
  if (wrong.empty()) return 0;
  fmt::print(stderr, "nearcache-simulate: {}\n", wrong);
  return 2;
}
