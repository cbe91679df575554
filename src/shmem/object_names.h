// SPDX-License-Identifier: BSD-3-Clause

// Names of symmetric objects and of the program's functions, for messages and reports.
#pragma once

#include <cstdint>
#include <string>

namespace nearcache::shmem {

// The object that contains an address: a range that the program has named, a symbol of the program
// or of a library, or a block of the heap.
struct NamedObject {
  std::string name;    // "table", "block 3 of the symmetric heap (4096 B)", "static data of prog"
  uint64_t begin = 0;  // its first byte in this process
  uint64_t end = 0;    // one past its last byte; 0: only the location of the object is known
};

// The symmetric object at `address`. Slow, because it reads the symbol tables of the loaded
// objects' files: for rare events only.
NamedObject symmetric_object_at(uint64_t address);

// "function+0x12 of prog" for an address in the code.
std::string code_at(const void* address);

// The innermost function on the stack that belongs to the program rather than to us; empty if there
// is none.
std::string program_caller();

}  // namespace nearcache::shmem
