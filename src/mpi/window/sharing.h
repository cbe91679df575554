// SPDX-License-Identifier: BSD-3-Clause

// Determines which ranks of a window's communicator share a cache (option share), and gives them
// access to its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/options.h"
#include "cache/shared/shared_cache.h"
#include "mpi/mpi_api.h"
#include "mpi/window/window_identity.h"

namespace nearcache::mpi {

inline constexpr const char* alone_on_node = "no other rank of its node shares it";

// Returns why this rank does not share, as far as it can tell by itself and ignoring its mode;
// empty if it wants to share.
std::string why_not_shared(ShareUse use, const WindowIdentity& identity);

// Two numbers per rank. Their maxima over all ranks tell whether at least two ranks want to share;
// fewer than two cannot.
struct SharersAgreed {
  int64_t last = 0, first = 0;  // for a rank that wants to share: rank + 1, and ranks - rank
  SharersAgreed() = default;
  SharersAgreed(bool wants, const WindowIdentity& identity)
      : last(wants ? identity.rank + 1 : 0), first(wants ? identity.ranks - identity.rank : 0) {}
  bool are_several(const WindowIdentity& identity) const {
    return last != 0 && last - 1 != identity.ranks - first;
  }
};

// Collective over `comm`, called if several of its ranks want to share: those on the same node that
// want to form one cache. `options` are this rank's options for the window. Returns null and sets
// `*why_not` if this rank has a cache of its own.
std::unique_ptr<SharedCache> share_with_node(MPI_Comm comm, const Options& options,
                                             const WindowIdentity& identity, std::string* why_not);

}  // namespace nearcache::mpi
