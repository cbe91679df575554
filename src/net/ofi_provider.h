// SPDX-License-Identifier: BSD-3-Clause

// Chooses the libfabric provider that a rank uses, and what it uses it for.
#pragma once

#include <optional>
#include <string>

#include "net/libfabric.h"
#include "net/ofi_direct.h"
#include "net/ofi_fabric.h"

namespace nearcache::net {

struct OfiProvider {
  fi_info* info = nullptr;              // for connected endpoints; freed by the caller
  std::optional<OfiDirect::Way> way{};  // how to use FI_RMA; none: not at all
};

// `messages` is the most that are in flight on an endpoint in each direction. Without a suitable
// provider, `info` is null and `wrong` has the reason.
OfiProvider find_provider(const Libfabric& library, const std::string& provider,
                          const std::string& interface, OfiFabric::Direct direct, size_t messages,
                          std::string* wrong);

}  // namespace nearcache::net
