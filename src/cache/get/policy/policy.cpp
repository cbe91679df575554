// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/policy/policy_view.h"

namespace nearcache {

void Policy::extended(PolicyView, EntryId, uint64_t) const {}

const char* Policy::check(PolicyView) const { return nullptr; }

const Policy& policy_of(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::lru:
      return lru_policy();
    case PolicyKind::sieve:
      return sieve_policy();
    case PolicyKind::tinylfu:
      return tinylfu_policy();
    case PolicyKind::clampi:
    case PolicyKind::clampi_temporal:
    case PolicyKind::clampi_positional:
      return clampi_policy(kind);
    case PolicyKind::rate:
      break;
  }
  return rate_policy();
}

}  // namespace nearcache
