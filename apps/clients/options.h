// SPDX-License-Identifier: BSD-3-Clause

// The command line of clients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/command_line.h"

namespace clients {

struct Command {
  std::string name;
  std::int64_t size = 0, rounds = 0;  // 0: use the program's default
};

using CommandLine = apps::CommandLine<Command>;

// `names`: of the programs.
CommandLine parse_command_line(const std::vector<std::string>& names, int argc,
                               const char* const* argv);

}  // namespace clients
