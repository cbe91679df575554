// SPDX-License-Identifier: BSD-3-Clause
#include "base/path_pattern.h"

#include <unistd.h>

#include "base/environment.h"

namespace nearcache {
namespace {

// Job names become part of a file name: "prterun-host-1234@1" is fine, but a slash is not.
std::string without_slashes(std::string text) {
  for (char& c : text) {
    if (c == '/') c = '_';
  }
  return text;
}

}  // namespace

bool is_path_pattern(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    if (++i == text.size() || std::string_view("phrj%").find(text[i]) == std::string_view::npos)
      return false;
  }
  return true;
}

std::string given_job_name() {
  for (const char* name :
       {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID"}) {
    const char* job = environment_value(name);
    if (job == nullptr) continue;
    const char* step = environment_value("SLURM_STEP_ID");
    return without_slashes(std::string(job) + (step == nullptr ? "" : std::string(".") + step));
  }
  const char* job = environment_value("PMIX_NAMESPACE");
  return job != nullptr ? without_slashes(job) : "";
}

std::string job_name() {
  const std::string given = given_job_name();
  return given.empty() ? std::to_string(getppid()) : given;
}

std::string expand_path(std::string_view pattern, int rank) {
  std::string path;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      path += pattern[i];
      continue;
    }
    switch (pattern[++i]) {
      case 'p':
        path += std::to_string(getpid());
        break;
      case 'h':
        path += host_name();
        break;
      case 'r':
        path += std::to_string(rank);
        break;
      case 'j':
        path += job_name();
        break;
      default:
        path += '%';
    }
  }
  return path;
}

}  // namespace nearcache
