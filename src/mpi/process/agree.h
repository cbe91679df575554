// SPDX-License-Identifier: BSD-3-Clause

// The ranks of a communicator agree on words: on the maximum of each over all ranks.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "mpi/mpi_api.h"
#include "mpi/process/context.h"
#include "mpi/process/next.h"
#include "mpi/process/patience.h"

namespace nearcache::mpi {

// Collective; the ranks have met. `Words` consists of 8-byte integers of the type `word`. One is
// `late`, for a rank that did not wait for the others: it says so and goes on with its own words.
// The others wait for it, since all ranks that have met know that every one calls this. Returns
// false if MPI fails.
template <class Words>
bool agree(MPI_Comm comm, MPI_Datatype word, const Words& mine, Words* most) {
  constexpr int words = sizeof(Words) / sizeof(uint64_t);
  static_assert(words * sizeof(uint64_t) == sizeof(Words));
  Exchange exchange(words, words);
  std::memcpy(exchange.sent().data(), &mine, sizeof mine);
  if (next.Iallreduce(exchange.sent().data(), exchange.received().data(), words, word, MPI_MAX,
                      comm, exchange.request()) != MPI_SUCCESS)
    return false;
  *most = mine;
  if (mine.late != 0) return context.world.leave(std::move(exchange)), true;
  if (!exchange.wait(no_limit)) return false;
  std::memcpy(static_cast<void*>(most), exchange.received().data(), sizeof *most);
  return true;
}

}  // namespace nearcache::mpi
