// SPDX-License-Identifier: BSD-3-Clause

// A vertex's values in the output, and how they are written in text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lcc {

struct Row {
  std::uint64_t name, degree, triangles;
  double coefficient;
};

constexpr std::string_view text_header = "# vertex\tdegree\ttriangles\tcoefficient\n";

/// Appends a line. `is_signed`: whether the bits of the name are a signed number's.
void append_text(std::string& rows, const Row& row, bool is_signed);

}  // namespace lcc
