// SPDX-License-Identifier: BSD-3-Clause
#include "rma/options.h"

#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace rma_apps {

Parsed parse(const Program& program, int argc, char** argv) {
  Parsed parsed;
  Options& options = parsed.options;
  options = {program.ways.front(), program.default_size, program.default_rounds};
  const std::vector<std::string> memories{"allocated", "created"};
  std::string memory = memories.front();
  CLI::App app(program.what, program.name);
  app.add_option("--way", options.way,
                 fmt::format("How to communicate: {}", fmt::join(program.ways, ", ")))
      ->check(CLI::IsMember(program.ways).description(""))
      ->option_text("NAME");
  const CLI::Range positive(std::int64_t{1}, std::int64_t{1} << 24);
  app.add_option("--size", options.size, fmt::format("{} [{}]", program.size, program.default_size))
      ->check(positive)
      ->option_text("N");
  app.add_option("--rounds", options.rounds, fmt::format("How often [{}]", program.default_rounds))
      ->check(positive)
      ->option_text("N");
  app.add_option("--memory", memory,
                 fmt::format("Windows are {} [{}]", fmt::join(memories, " or "), memory))
      ->check(CLI::IsMember(memories).description(""))
      ->option_text("KIND");
  if (program.ahead != nullptr) {
    app.add_option("--ahead", options.ahead, fmt::format("{} [{}]", program.ahead, options.ahead))
        ->check(positive)
        ->option_text("N");
  }
  try {
    app.parse(argc, argv);
    options.allocated = memory == memories.front();
  } catch (const CLI::Success& reason) {
    std::ostringstream text;
    app.exit(reason, text, text);
    parsed = {0, text.str(), {}};
  } catch (const CLI::ParseError& error) {
    parsed = {
        2, fmt::format("{}: {} (--help shows the options)\n", program.name, error.what()), {}};
  }
  return parsed;
}

std::string text(const Program& program, const Options& options, int ranks,
                 const Outcome& outcome) {
  return fmt::format(
      "{{\"app\": \"{}\", \"way\": \"{}\", \"memory\": \"{}\", \"ahead\": {}, \"ranks\": {}, "
      "\"size\": {}, \"rounds\": {}, \"correct\": {}, \"checksum\": \"{:016x}\", "
      "\"seconds\": [{:.7f}]}}\n",
      program.name, options.way, options.allocated ? "allocated" : "created", options.ahead, ranks,
      options.size, options.rounds, outcome.correct, outcome.checksum,
      fmt::join(outcome.seconds, ", "));
}

}  // namespace rma_apps
