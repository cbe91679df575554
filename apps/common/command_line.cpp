// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.h"

#include <sstream>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

namespace apps {

std::optional<EarlyExit> parse(CLI::App& app, int argc, const char* const* argv,
                               const std::function<void()>& check) {
  try {
    app.parse(argc, argv);
    check();
    return {};
  } catch (const CLI::Success& reason) {
    std::ostringstream text;
    app.exit(reason, text, text);
    return EarlyExit{0, text.str()};
  } catch (const CLI::ParseError& error) {
    return EarlyExit{
        2, fmt::format("{0}: {1} ({0} --help shows the options)\n", app.get_name(), error.what())};
  }
}

}  // namespace apps
