// SPDX-License-Identifier: BSD-3-Clause

// The command line of clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace clients {

struct Command {
  std::string name;
  std::int64_t size = 0, rounds = 0;  // 0: use the program's default
};

struct Parsed {
  int exit_code = -1;  // -1: run the command
  std::string text;    // otherwise: the text to print
  Command command;
};

// `names`: of the programs.
Parsed parse(const std::vector<std::string>& names, int argc, char** argv);

}  // namespace clients
