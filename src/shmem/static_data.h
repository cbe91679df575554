// Where the static data of the program and its libraries lies.
#pragma once

#include <vector>

#include "cache/page/page_transport.h"

namespace nearcache::shmem {

// The writable parts of every object that is loaded, to the last byte that the object has: what
// lies beyond it in the last page is in no object, and OpenSHMEM libraries register nothing of it.
// Each is in two where the file's part ends and zero-filled memory begins: the system maps the two
// apart, and libraries may register them apart. What is made read-only after relocation is left
// out.
std::vector<Extent> static_data();

}  // namespace nearcache::shmem
