// SPDX-License-Identifier: BSD-3-Clause

// The command line of nearcache-simulate.
#pragma once

#include <optional>
#include <string>

#include "simulate/study.h"

namespace nearcache::simulate {

enum class Task { study, curve, summary, safety };

struct Arguments {
  Task task = Task::study;
  StudyOptions study;
  std::string csv, json;   // output files; empty: none
  std::string of_windows;  // a given option that applies only to caches of windows
  unsigned curve_points = 0;
};

// Parses the command line. Returns the exit code if there is nothing to do: help was requested, or
// the usage was wrong.
std::optional<int> parse_arguments(int argc, char** argv, Arguments* arguments);

// Parses an amount such as "25%", "1M", "1.5x" or "auto"; returns false if `text` is not one.
// `unit` is 'b' for bytes or 'n' for a count.
bool parse_amount(const std::string& text, char unit, Amount* amount);

}  // namespace nearcache::simulate
