// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/hints.h"

#include <string_view>

#include "mpi/process/info_value.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

bool is_boolean(std::string_view value) { return value == "true" || value == "false"; }

bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  for (;;) {
    const size_t comma = value.find(',');
    const std::string_view one = value.substr(0, comma);
    if (one != "rar" && one != "raw" && one != "war" && one != "waw") return false;
    if (comma == std::string_view::npos) return true;
    value.remove_prefix(comma + 1);
  }
}

bool are_operations(std::string_view value) {
  return value == "same_op" || value == "same_op_no_op";
}

struct Hint {
  const char* name;
  bool (*allows)(std::string_view);
};

// In the order of Hints::values_.
constexpr std::array<Hint, 5> all_hints{{{"no_locks", is_boolean},
                                         {"accumulate_ordering", is_ordering},
                                         {"accumulate_ops", are_operations},
                                         {"same_size", is_boolean},
                                         {"same_disp_unit", is_boolean}}};

}  // namespace

void Hints::take(MPI_Info info) {
  for (size_t i = 0; i < all_hints.size(); ++i) {
    const auto value = info_value(info, all_hints[i].name);
    if (value && all_hints[i].allows(*value)) values_[i] = *value;
  }
}

int Hints::write_to(MPI_Info info) const {
  for (size_t i = 0; i < all_hints.size(); ++i) {
    if (const int rc = next.Info_set(info, const_cast<char*>(all_hints[i].name),
                                     const_cast<char*>(values_[i].c_str()));
        rc != MPI_SUCCESS)
      return rc;
  }
  return MPI_SUCCESS;
}

}  // namespace nearcache::mpi
