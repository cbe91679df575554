// SPDX-License-Identifier: BSD-3-Clause

// The location of the static data of the program and its libraries.
#pragma once

#include <vector>

#include "cache/page/page_transport.h"

namespace nearcache::shmem {

// The writable segments of every loaded object, up to the object's last byte: the rest of the last
// page belongs to no object, and OpenSHMEM libraries do not register it. A segment is split where
// the part from the file ends and zero-filled memory begins, because the system maps the two
// separately and libraries may register them separately. Data that becomes read-only after
// relocation is left out.
std::vector<Extent> static_data();

}  // namespace nearcache::shmem
