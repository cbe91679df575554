// SPDX-License-Identifier: BSD-3-Clause

// Prints the tables of options, counters and known defects of hosts as JSON. With arguments
// NAME=VALUE, prints what the library says about each, one line per argument: an error message, or
// nothing if the value is allowed.
#include <algorithm>
#include <initializer_list>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/options.h"
#include "telemetry/report.h"

static void check(const std::string& setting) {
  const size_t equals = std::min(setting.find('='), setting.size());
  nearcache::Options options;
  std::cout << options.set(setting.substr(0, equals),
                           setting.substr(std::min(equals + 1, setting.size())))
            << '\n';
}

// Texts instead of literals: nlohmann-json is instantiated once more for each length of a literal.
using Texts = std::initializer_list<std::pair<const char*, const char*>>;

static nlohmann::ordered_json object(Texts fields) {
  nlohmann::ordered_json made;
  for (const auto& [name, value] : fields) made[name] = value;
  return made;
}

static void print_tables() {
  nlohmann::ordered_json tables = object({{"nearcache", nearcache::version_text()}});
  for (const nearcache::OptionRow& row : nearcache::option_rows()) {
    tables["options"].push_back(object({{"scope", row.scope},
                                        {"name", row.name},
                                        {"type", row.type},
                                        {"default", row.default_text},
                                        {"least", row.least},
                                        {"most", row.most},
                                        {"unit", row.unit},
                                        {"help", row.help}}));
  }
#define NEARCACHE_COUNTER(name, kind, unit, help) \
  tables["counters"].push_back(                   \
      object({{"name", #name}, {"kind", #kind}, {"unit", unit}, {"help", help}}));
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
#define NEARCACHE_HOST_DEFECT(name, library, first, last, what, answer) \
  tables["host_defects"].push_back(object({{"name", #name},             \
                                           {"library", #library},       \
                                           {"first", first},            \
                                           {"last", last},              \
                                           {"what", what},              \
                                           {"answer", answer}}));
#include "mpi/process/host_defects.def"
#undef NEARCACHE_HOST_DEFECT
  std::cout << tables.dump(1) << '\n';
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) check(argv[i]);
  if (argc == 1) print_tables();
  return std::cout.good() ? 0 : 1;
}
