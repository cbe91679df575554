// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/window_info.h"

#include <cstring>
#include <string>

#include "base/log.h"
#include "mpi/process/context.h"
#include "mpi/process/info_value.h"

namespace nearcache::mpi {
namespace {

// CLaMPI's values, by name or, in programs compiled with its own header, by number.
std::string mode_of_clampi(const std::string& value) {
  if (value == "CLAMPI_TRANSPARENT" || value == "1") return "transparent";
  if (value == "CLAMPI_ALWAYS_CACHE" || value == "2") return "always";
  if (value == "CLAMPI_USER_DEFINED" || value == "3") return "user";
  return value;
}

void set_from_info(Options* options, const char* name, const std::string& key,
                   const std::string& value) {
  const std::string wrong = options->set(name, value);
  if (!wrong.empty() && context.rank == 0)
    log(LogLevel::warning, "info key %s: %s", key.c_str(), wrong.c_str());
}

}  // namespace

bool read_info(MPI_Info info, Options* options) {
  bool names_mode = false;
  for (const char* key : {"CLAMPI_MODE", "clampi_mode"}) {
    const auto value = info_value(info, key);
    if (value) set_from_info(options, "mode", key, mode_of_clampi(*value));
    names_mode = names_mode || value;
  }
  for (const OptionRow& row : option_rows()) {
    if (std::strcmp(row.scope, "window") != 0) continue;
    const std::string key = std::string("nearcache_") + row.name;
    const auto value = info_value(info, key.c_str());
    if (value) set_from_info(options, row.name, key, *value);
    names_mode = names_mode || (value && std::strcmp(row.name, "mode") == 0);
  }
  return names_mode;
}

}  // namespace nearcache::mpi
