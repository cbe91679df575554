// SPDX-License-Identifier: BSD-3-Clause

// How this process has mapped some memory, according to the system.
#pragma once

#include <cstdint>

namespace nearcache {

struct Mapping {
  bool shared = true;     // other processes may have mapped some of it, too
  bool readable = false;  // all of it
  // some of it is a file's, other than an object that is loaded: whoever writes to the file changes
  // what has not been stored to here
  bool of_file = false;
};

// If the system does not tell, nothing is readable and all may be shared. `by_text`: reads the list
// of mappings, 5 to 100 us, even if the system answers questions about addresses (Linux 6.11),
// in 2.
Mapping mapping_of(const void* base, uint64_t bytes, bool by_text = false);

}  // namespace nearcache
