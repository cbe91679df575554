// Names of symmetric objects and of the program's functions, for messages and reports.
#pragma once

#include <cstdint>
#include <string>

namespace nearcache::shmem {

// What holds an address: a range that the program named, a symbol of it or of a library, or a block
// of the heap.
struct NamedObject {
  std::string name;    // "table", "block 3 of the symmetric heap (4096 B)", "static data of prog"
  uint64_t begin = 0;  // its first byte in this process
  uint64_t end = 0;    // behind its last; 0: nothing is known of the object but its place
};

// The symmetric object at `address`. Reads the symbol tables of the files of loaded objects, so it
// is slow, and for what happens rarely.
NamedObject symmetric_object_at(uint64_t address);

// "function+0x12 of prog" for a place in the code.
std::string code_at(const void* address);

// The innermost function on the stack that is the program's, not ours; empty if there is none.
std::string program_caller();

}  // namespace nearcache::shmem
