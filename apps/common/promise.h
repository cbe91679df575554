// SPDX-License-Identifier: BSD-3-Clause

// Whether the programs promise anything about their windows to a caching layer, by an info key or a
// call. With --no-promise they behave like programs that know of no caching layer.
#pragma once

namespace apps {

inline bool promise = true;

}  // namespace apps
