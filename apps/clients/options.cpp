// SPDX-License-Identifier: BSD-3-Clause
#include "clients/options.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace clients {

CommandLine parse_command_line(const std::vector<std::string>& names, int argc,
                               const char* const* argv) {
  Command command;
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
  return apps::parse(app, argc, argv, command);
}

}  // namespace clients
