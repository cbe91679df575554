// SPDX-License-Identifier: BSD-3-Clause
#if __has_include(<rdma/fabric.h>)
#include "net/ofi_provider.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <cstring>

#include "net/socket_address.h"

namespace nearcache::net {
namespace {

constexpr uint32_t our_version = FI_VERSION(1, 11);

const char* const hardware[] = {"verbs", "cxi", "efa", "psm3", "opx"};

bool is_hardware(const char* name) {
  return std::ranges::any_of(hardware, [&](const char* each) { return !std::strcmp(each, name); });
}

bool has(const std::string& provider, const fi_info& info) {
  const char* const name = info.fabric_attr->prov_name;
  if (name == nullptr || std::strlen(name) >= sizeof OfiAddress{}.provider) return false;
  return provider.empty() ? is_hardware(name) : provider == name;
}

struct Search {
  const Libfabric& library;
  std::string provider, interface;
  size_t messages;

  // `way`: how FI_RMA is to be used as well; none: only messages are needed.
  fi_info* find(std::optional<OfiDirect::Way> way) const {
    fi_info* const wanted = hints(way);
    if (wanted == nullptr) return nullptr;
    fi_info* chosen = nullptr;
    const auto look = [&](const char* host) {
      fi_info* all = nullptr;
      const uint64_t flags = host != nullptr ? FI_SOURCE | FI_NUMERICHOST : 0;
      if (library.getinfo(our_version, host, nullptr, flags, wanted, &all) != 0) return;
      for (const fi_info* each = all; each != nullptr && chosen == nullptr; each = each->next) {
        if (has(provider, *each)) chosen = library.dupinfo(each);
      }
      library.freeinfo(all);
    };
    // At the address where the TCP fabric would listen; otherwise anywhere, because the interfaces
    // of other hardware may have no such address.
    const SocketAddress address = own_address(interface);
    if (address.family != 0) look(address.host().c_str());
    if (chosen == nullptr && interface.empty()) look(nullptr);
    library.freeinfo(wanted);
    return chosen;
  }

  fi_info* hints(std::optional<OfiDirect::Way> way) const {
    fi_info* const hints = library.dupinfo(nullptr);
    if (hints == nullptr) return nullptr;
    hints->caps = FI_MSG;
    hints->ep_attr->type = FI_EP_MSG;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->tx_attr->size = hints->rx_attr->size = messages;
    if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
    if (!way) {
      hints->domain_attr->mr_mode |= FI_MR_ENDPOINT;
      return hints;
    }
    hints->caps |= FI_RMA;
    hints->tx_attr->size += OfiDirect::most_posted;
    if (way == OfiDirect::Way::delivery_complete) {
      hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    } else {
      hints->tx_attr->msg_order |= FI_ORDER_RAW;
      hints->rx_attr->msg_order |= FI_ORDER_RAW;
      hints->ep_attr->max_order_raw_size = OfiDirect::buffer_size;
    }
    return hints;
  }
};

}  // namespace

OfiProvider find_provider(const Libfabric& library, const std::string& provider,
                          const std::string& interface, OfiFabric::Direct direct, size_t messages,
                          std::string* wrong) {
  using Direct = OfiFabric::Direct;
  Search search{library, provider, interface, messages};
  OfiProvider found{search.find({})};
  if (found.info == nullptr) {
    *wrong = provider.empty()
                 ? "libfabric has no hardware with RDMA and connected endpoints"
                 : "libfabric's provider '" + provider + "' has no connected endpoints (FI_EP_MSG)";
    *wrong += interface.empty() ? " here" : " at interface '" + interface + "'";
    return found;
  }
  search.provider = found.info->fabric_attr->prov_name;
  if (direct == Direct::none ||
      (direct == Direct::hardware && !is_hardware(search.provider.c_str())))
    return found;
  for (const auto way : {OfiDirect::Way::delivery_complete, OfiDirect::Way::read_behind}) {
    if (direct == Direct::any_reads_behind && way != OfiDirect::Way::read_behind) continue;
    fi_info* const better = search.find(way);
    if (better == nullptr) continue;
    library.freeinfo(found.info);
    better->tx_attr->op_flags = 0;  // set for each write instead
    return {better, way};
  }
  return found;
}

}  // namespace nearcache::net
#endif
