// Prints the tables of options, counters and known defects of hosts as JSON.
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/options.h"
#include "telemetry/report.h"

int main() {
  nlohmann::ordered_json tables = {{"nearcache", nearcache::version_text()}};
  for (const nearcache::OptionRow& row : nearcache::option_rows()) {
    tables["options"].push_back({{"scope", row.scope}, {"name", row.name}, {"type", row.type},
                                 {"default", row.default_text}, {"unit", row.unit}, {"help", row.help}});
  }
#define NEARCACHE_COUNTER(name, kind, unit, help) \
  tables["counters"].push_back({{"name", #name}, {"kind", #kind}, {"unit", unit}, {"help", help}});
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
#define NEARCACHE_HOST_DEFECT(name, library, first, last, what, answer) \
  tables["host_defects"].push_back({{"name", #name}, {"library", #library}, {"first", first}, {"last", last}, {"what", what}, {"answer", answer}});
#include "mpi/process/host_defects.def"
#undef NEARCACHE_HOST_DEFECT
  std::cout << tables.dump(1) << '\n';
  return std::cout.good() ? 0 : 1;
}
