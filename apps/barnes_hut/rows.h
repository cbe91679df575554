// SPDX-License-Identifier: BSD-3-Clause

// Bodies in text.
#pragma once

#include <string>
#include <vector>

#include "body.h"

namespace barnes_hut {

/// Returns a line per body, as in the output file; with `header`, a line of names first.
std::string rows(const std::vector<Body>& bodies, bool header);

}  // namespace barnes_hut
