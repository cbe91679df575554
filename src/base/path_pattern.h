// File names that several processes or jobs write, distinct for each: %p stands for the
// process's pid, %h for the host, %r for the rank, %j for the job, %% for a percent
// sign.
#pragma once

#include <string>
#include <string_view>

namespace nearcache {

// False where a percent sign is followed by anything else, or by nothing.
bool is_path_pattern(std::string_view text);

// The name for this process. pre: is_path_pattern(pattern).
std::string expand_path(std::string_view pattern, int rank);

// The job that this process belongs to: the scheduler's number and step, else the launcher's name
// for it; empty where neither tells.
std::string given_job_name();

// What tells the job from others: its given name, else the number of the process that started this
// one, which ranks of a node have in common.
std::string job_name();

}  // namespace nearcache
