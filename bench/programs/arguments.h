// SPDX-License-Identifier: BSD-3-Clause

// The command line of a benchmark program, parsed with CLI11. MPI-free, so it is compiled only
// once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

// `--name VALUE`, and the default value.
struct Option {
  enum class Kind { text, number, numbers };  // numbers: 8,64,512
  Kind kind;
  std::string name;
  std::string value;
  std::string help;
};
Option text(std::string name, std::string otherwise, std::string help);
Option number(std::string name, std::int64_t otherwise, std::string help);
Option numbers(std::string name, std::string otherwise, std::string help);

class Options {
 public:
  // Every program also has --out, the file to which it writes its rows.
  explicit Options(std::vector<Option> options);

  // `go_on` is true if the program should continue; otherwise `said` is the text to print and
  // `code` the exit code.
  struct Outcome {
    bool go_on;
    std::string said;
    int code;
  };
  Outcome parse(int argc, char** argv);

  // pre: `name` is the name of one of the options, of the corresponding kind
  const std::string& text(const std::string& name) const;
  std::int64_t number(const std::string& name) const;
  std::vector<std::int64_t> numbers(const std::string& name) const;

 private:
  std::vector<Option> options_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::int64_t>> numbers_;
};

}  // namespace bench
