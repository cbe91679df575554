// SPDX-License-Identifier: BSD-3-Clause

// The process's surroundings: its host, and the environment variables that it may trust (none if it
// has more privileges than its user, as a set-user-id program does).
#pragma once

#include <string>

namespace nearcache {

// Returns the value of a variable, or nullptr.
const char* environment_value(const char* name);

// Returns true if this process is rank 0 of its job, as far as the launcher's variables tell before
// MPI or OpenSHMEM can. Rank 0 prints messages on behalf of all. Returns true without a launcher.
bool launched_as_first();

// Returns all variables, in the form of `environ`, or nullptr if none may be trusted.
char** environment_all();

std::string host_name();

}  // namespace nearcache
