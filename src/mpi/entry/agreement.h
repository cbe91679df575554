// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of a new window must know of each other before it can be cached.
#pragma once

#include <cstdint>
#include <string>

#include "base/options.h"
#include "mpi/coherence/board.h"
#include "mpi/entry/create.h"
#include "mpi/mpi_api.h"
#include "mpi/window/window_identity.h"

namespace nearcache::mpi {

// What the ranks of a window agree on about coherence: whether one of them wants it and all can,
// the window's slot, and the size of the largest exposed memory.
struct CoherenceAgreed {
  bool wanted = false;
  uint32_t slot = Board::slots;
  uint64_t most_bytes = 0;
  std::string why_not;  // empty if it can be coherent
};

// What this rank wants of the window and, afterwards, what all its ranks have agreed on.
struct Settled {
  bool shares = false;  // this rank may share a cache; some ranks do
  CoherenceAgreed coherent;
  Board* board = nullptr;  // of a coherent window
};

// Settles what the ranks of a window must know of each other, and enables them to notify each other
// of writes. Collective. Returns "", or why the window is to be left alone.
std::string settle(const Creation& creation, ShareUse use, WindowIdentity* identity,
                   Settled* settled);

}  // namespace nearcache::mpi
