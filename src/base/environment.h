// The process's surroundings: its host, and the environment variables that it may trust (none if it
// has more privileges than its user: set-user-id).
#pragma once

#include <string>

namespace nearcache {

// The value of a variable, or nullptr.
const char* environment_value(const char* name);

// Whether this process is rank 0 of its job, as far as launchers tell before MPI or OpenSHMEM does:
// it speaks for all. True without one.
bool launched_as_first();

// All of them, as `environ` has them; nullptr where none may be believed.
char** environment_all();

std::string host_name();

}  // namespace nearcache
