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
  std::string csv, json;   // files; empty: none
  std::string of_windows;  // an option that was given and that only caches of windows have
  unsigned curve_points = 0;
};

// Reads the command line. Returns the exit code where there is nothing to do: help was asked for,
// or the usage was wrong.
std::optional<int> parse_arguments(int argc, char** argv, Arguments* arguments);

// "25%", "1M", "1.5x", "auto"; false if `text` is no amount. `unit` 'b' for bytes, 'n' for a count.
bool parse_amount(const std::string& text, char unit, Amount* amount);

}  // namespace nearcache::simulate
