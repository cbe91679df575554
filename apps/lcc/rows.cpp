// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/rows.h"

#include <iterator>

#include <fmt/format.h>

namespace lcc {

void append_text(std::string& rows, const Row& row, bool is_signed) {
  const auto end = std::back_inserter(rows);
  if (is_signed) {
    fmt::format_to(end, "{}", static_cast<std::int64_t>(row.name));
  } else {
    fmt::format_to(end, "{}", row.name);
  }
  fmt::format_to(end, "\t{}\t{}\t{:.9g}\n", row.degree, row.triangles, row.coefficient);
}

}  // namespace lcc
