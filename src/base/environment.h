// What surrounds the process: its host, and the variables that it may believe, none in one that has
// more rights than who started it (set-user-id).
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
