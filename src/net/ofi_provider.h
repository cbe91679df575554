// Which of libfabric's providers a rank uses, and for what.
#pragma once

#include <optional>
#include <string>

#include "net/libfabric.h"
#include "net/ofi_direct.h"
#include "net/ofi_fabric.h"

namespace nearcache::net {

struct OfiProvider {
  fi_info* info = nullptr;              // of connected endpoints, to be freed
  std::optional<OfiDirect::Way> way{};  // FI_RMA is to be used, in this way
};

// `messages`: the most that are under way on an endpoint, each way. No info and the reason where
// there is none.
OfiProvider find_provider(const Libfabric& library, const std::string& provider,
                          const std::string& interface, OfiFabric::Direct direct, size_t messages,
                          std::string* wrong);

}  // namespace nearcache::net
