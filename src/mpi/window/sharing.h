// Which ranks of a window's communicator share a cache (option share), and how they get access to
// its memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/options.h"
#include "cache/shared/shared_cache.h"
#include "mpi/mpi_api.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

inline constexpr const char* alone_on_node = "no other rank of its node shares it";

// Why this rank does not share, as far as it knows by itself, its mode apart; empty if it wants to.
std::string why_not_shared(ShareUse use, const WindowIdentity& identity);

// The two numbers of each rank of which all have to know the greatest to know whether some of them
// may share: it takes two that want to.
struct SharersAgreed {
  int64_t last = 0, first = 0;  // of those who want to: rank + 1, and ranks - rank
  SharersAgreed() = default;
  SharersAgreed(bool wants, const WindowIdentity& identity)
      : last(wants ? identity.rank + 1 : 0), first(wants ? identity.ranks - identity.rank : 0) {}
  bool are_several(const WindowIdentity& identity) const {
    return last != 0 && last - 1 != identity.ranks - first;
  }
};

// Collective over `comm`, where several of its ranks want to share: those of a node that do make
// one cache. `options` are this rank's, of the window. Null, and why, where this rank has one of
// its own.
std::unique_ptr<SharedCache> share_with_node(MPI_Comm comm, const Options& options,
                                             const WindowIdentity& identity, std::string* why_not);

}  // namespace nearcache::mpi
