// How much memory this machine can still give. MPI-free.
#pragma once

#include <cstdint>
#include <string>

namespace apps {

/// Bytes that can be used here without swapping: what the kernel calls available, or what the
/// control group still allows, whichever is less. UINT64_MAX if neither can be learnt.
std::uint64_t available_memory();

/// "3.2 GiB"
std::string bytes_text(double bytes);

}  // namespace apps
