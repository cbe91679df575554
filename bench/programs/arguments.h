// What a measuring program is told on its command line, read by CLI11. Knows no MPI, so it is
// compiled once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

// `--name VALUE`, and what holds without it.
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
  // Every program also has --out, the file that its rows go to.
  explicit Options(std::vector<Option> options);

  // True if the program is to go on; else what is to be said, and the exit code.
  struct Outcome {
    bool go_on;
    std::string said;
    int code;
  };
  Outcome parse(int argc, char** argv);

  // The name must be one of the options'.
  const std::string& text(const std::string& name) const;
  std::int64_t number(const std::string& name) const;
  std::vector<std::int64_t> numbers(const std::string& name) const;

 private:
  std::vector<Option> options_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<std::int64_t>> numbers_;
};

}  // namespace bench
