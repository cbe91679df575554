// SPDX-License-Identifier: BSD-3-Clause
#include "clients/options.h"

#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace clients {

Parsed parse(const std::vector<std::string>& names, int argc, char** argv) {
  Parsed parsed;
  Command& command = parsed.command;
  CLI::App app("Programs in the shape of public one-sided MPI codes.", "clients");
  app.add_option("name", command.name, fmt::format("One of {}", fmt::join(names, ", ")))
      ->required()
      ->check(CLI::IsMember(names).description(""))
      ->option_text("NAME");
  const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 20);
  app.add_option("--size", command.size, "Size, as the program counts it")
      ->check(positive)
      ->option_text("N");
  app.add_option("--rounds", command.rounds, "Rounds, as the program counts them")
      ->check(positive)
      ->option_text("N");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& reason) {
    std::ostringstream text;
    app.exit(reason, text, text);
    parsed = {0, text.str(), {}};
  } catch (const CLI::ParseError& error) {
    parsed = {2, fmt::format("clients: {} (clients --help shows the options)\n", error.what()), {}};
  }
  return parsed;
}

}  // namespace clients
