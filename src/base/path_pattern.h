// SPDX-License-Identifier: BSD-3-Clause

// Patterns that give each of several processes or jobs its own file name: %p stands for the process
// id, %h for the host, %r for the rank, %j for the job, %% for a percent sign.
#pragma once

#include <string>
#include <string_view>

namespace nearcache {

// Returns false if a percent sign is followed by anything else, or by nothing.
bool is_path_pattern(std::string_view text);

// Returns the file name for this process. pre: is_path_pattern(pattern).
std::string expand_path(std::string_view pattern, int rank);

// Returns the name of this process's job: the scheduler's number and step, or else the launcher's
// name for it; empty if neither is known.
std::string given_job_name();

// Returns a string that tells this job from others: its given name, or else the pid of the parent
// process, which the ranks of a node have in common.
std::string job_name();

}  // namespace nearcache
