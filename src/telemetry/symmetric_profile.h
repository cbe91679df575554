// SPDX-License-Identifier: BSD-3-Clause

// What the details of an OpenSHMEM program's report have beyond a Profile: which symmetric objects
// its gets and puts access, and which calls were acquires.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace nearcache {

struct SymmetricProfile {
  struct Object {
    uint64_t bytes = 0;                         // its size on one PE; 0: unknown
    uint64_t gets = 0, hits = 0, bypassed = 0;  // calls; of them hits, bypassed
    // by transfers whose midpoint is in the object
    uint64_t bytes_from_network = 0, bytes_to_network = 0;
  };
  struct Acquire {
    uint64_t calls = 0, bytes_dropped = 0;
  };

  std::map<std::string, Object> objects;    // by name
  std::map<std::string, Acquire> acquires;  // by name of the call
};

}  // namespace nearcache
