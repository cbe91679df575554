// SPDX-License-Identifier: BSD-3-Clause
#include "rows.h"

#include <iterator>

#include <fmt/format.h>

namespace barnes_hut {

std::string rows(const std::vector<Body>& bodies, bool header) {
  fmt::memory_buffer text;
  const auto end = std::back_inserter(text);
  if (header) fmt::format_to(end, "# id\tmass\tx\ty\tz\tvx\tvy\tvz\n");
  for (const auto& body : bodies) {
    const Vector &x = body.position, &v = body.velocity;
    fmt::format_to(end, "{}\t{:.17g}\t{:.17g}\t{:.17g}\t{:.17g}\t{:.17g}\t{:.17g}\t{:.17g}\n",
                   body.id, body.mass, x.x, x.y, x.z, v.x, v.y, v.z);
  }
  return fmt::to_string(text);
}

}  // namespace barnes_hut
