// The functions of libfabric that are symbols; all others are in the tables of its objects.
//
// The library is looked up at run time. A second copy in a process would initialise every network
// again, so the one that the host MPI has loaded is preferred.
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

// Null and the reason where there is none. It stays loaded. Any thread.
const Libfabric* libfabric(std::string* wrong);

}  // namespace nearcache::net
