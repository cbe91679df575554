// SPDX-License-Identifier: BSD-3-Clause

// The libfabric functions that are exported symbols; all others are called through the tables in
// libfabric's objects.
//
// The library is looked up at run time. A second copy in a process would initialise every network
// again, so a copy that the host MPI has loaded is preferred.
#pragma once

#include <string>

#include <rdma/fabric.h>

namespace nearcache::net {

struct Libfabric {
  decltype(&::fi_getinfo) getinfo;
  decltype(&::fi_freeinfo) freeinfo;
  decltype(&::fi_dupinfo) dupinfo;
  decltype(&::fi_fabric) fabric;
  decltype(&::fi_strerror) strerror;
};

// Returns null, and the reason in `wrong`, if there is none. The library stays loaded. Any thread.
const Libfabric* libfabric(std::string* wrong);

}  // namespace nearcache::net
