// SPDX-License-Identifier: BSD-3-Clause

// The amount of memory still available on this machine. MPI-free.
#pragma once

#include <cstdint>
#include <string>

namespace apps {

/// Returns the number of bytes that can be used without swapping: the kernel's MemAvailable or the
/// control group's remaining allowance, whichever is less. UINT64_MAX if neither is known.
std::uint64_t available_memory();

/// Formats a size: "3.2 GiB".
std::string bytes_text(double bytes);

}  // namespace apps
