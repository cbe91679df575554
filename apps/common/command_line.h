// SPDX-License-Identifier: BSD-3-Clause

// What a program's command line says.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace apps {

/// An early exit: help, version (code 0) or a bad command line, with the text to print.
struct EarlyExit {
  int code = 0;
  std::string text;
};

/// Either `options`, or an early exit.
template <class Options>
struct CommandLine {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

/// Reads the command line into what `app` describes. `check`, called afterwards, throws a
/// CLI::ParseError if the options do not go together.
std::optional<EarlyExit> parse(CLI::App& app, int argc, const char* const* argv,
                               const std::function<void()>& check);

/// The same; returns the options, into which `app` reads.
template <class Options>
CommandLine<Options> parse(
    CLI::App& app, int argc, const char* const* argv, const Options& options,
    const std::function<void()>& check = [] {}) {
  if (auto exit = parse(app, argc, argv, check)) return {{}, exit->code, std::move(exit->text)};
  return {options, 0, {}};
}

}  // namespace apps
