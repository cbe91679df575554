// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace bench {

Option text(std::string name, std::string otherwise, std::string help) {
  return {Option::Kind::text, std::move(name), std::move(otherwise), std::move(help)};
}
Option number(std::string name, std::int64_t otherwise, std::string help) {
  return {Option::Kind::number, std::move(name), std::to_string(otherwise), std::move(help)};
}
Option numbers(std::string name, std::string otherwise, std::string help) {
  return {Option::Kind::numbers, std::move(name), std::move(otherwise), std::move(help)};
}

Options::Options(std::vector<Option> options) : options_(std::move(options)) {
  options_.push_back(bench::text("out", "", "File for the rows, as JSON"));
}

Options::Outcome Options::parse(int argc, char** argv) {
  CLI::App app("A program of bench/run");
  for (const Option& option : options_) {
    CLI::Option* added =
        option.kind == Option::Kind::text
            ? app.add_option("--" + option.name, texts_[option.name], option.help)
            : app.add_option("--" + option.name, numbers_[option.name], option.help);
    if (option.kind == Option::Kind::numbers) added->delimiter(',');
    if (option.kind == Option::Kind::number) added->expected(1);
    added->default_str(option.value);
    if (!option.value.empty()) added->force_callback();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream said;
    const int code = app.exit(error, said, said);
    return {false, said.str(), code};
  }
  return {true, "", 0};
}

const std::string& Options::text(const std::string& name) const { return texts_.at(name); }

std::int64_t Options::number(const std::string& name) const { return numbers_.at(name).at(0); }

std::vector<std::int64_t> Options::numbers(const std::string& name) const {
  return numbers_.at(name);
}

}  // namespace bench
