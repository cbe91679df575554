// SPDX-License-Identifier: BSD-3-Clause
#include "net/ofi_fabric.h"

#include <filesystem>
#include <utility>

#if __has_include(<rdma/fabric.h>)
#include "net/libfabric.h"
#include "net/ofi_endpoints.h"
#endif

namespace nearcache::net {

bool OfiFabric::may_have_hardware() {
  std::error_code none;
  return !std::filesystem::is_empty("/sys/class/infiniband", none) && !none;
}

#if __has_include(<rdma/fabric.h>)

std::unique_ptr<OfiFabric> OfiFabric::open(int rank, int ranks, const std::string& provider,
                                           const std::string& interface, std::string* wrong,
                                           Direct direct) {
  const Libfabric* const library = libfabric(wrong);
  if (library == nullptr) return nullptr;
  auto fabric = std::make_unique<OfiEndpoints>(rank, *library);
  *wrong = fabric->listen(ranks, provider, interface, direct);
  return wrong->empty() ? std::move(fabric) : nullptr;
}

#else

std::unique_ptr<OfiFabric> OfiFabric::open(int, int, const std::string&, const std::string&,
                                           std::string* wrong, Direct) {
  *wrong = "it was built without libfabric's headers";
  return nullptr;
}

#endif

}  // namespace nearcache::net
