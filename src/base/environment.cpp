// SPDX-License-Identifier: BSD-3-Clause
#include "base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace nearcache {

const char* environment_value(const char* name) { return secure_getenv(name); }

bool launched_as_first() {
  for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* rank = environment_value(variable)) return std::strcmp(rank, "0") == 0;
  return true;
}

char** environment_all() { return getauxval(AT_SECURE) != 0 ? nullptr : environ; }

std::string host_name() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  return host;
}

}  // namespace nearcache
