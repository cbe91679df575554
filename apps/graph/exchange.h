// SPDX-License-Identifier: BSD-3-Clause

// Redistribution: sends every item to the rank that owns it.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/agreement.h"

namespace apps {

/// Collective. Sends each of `items` to rank `owner(item)` and returns the items that this rank
/// received, in unspecified order. Works in rounds, so that no count exceeds an int and the buffers
/// passed to MPI stay small compared with the data.
template <class Owner>
std::vector<std::uint64_t> exchange(MPI_Comm comm, std::vector<std::uint64_t> items,
                                    Owner&& owner) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  if (ranks == 1) return items;

  // At most 2^22 items (32 MiB) leave a rank in a round, and at most 2^30 can arrive.
  const std::uint64_t round_items = std::min<std::uint64_t>(1u << 22, (1u << 30) / ranks);
  std::uint64_t most = items.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UINT64_T, MPI_MAX, comm), "MPI_Allreduce");

  std::vector<std::uint64_t> received, outgoing;
  std::vector<int> send_counts(ranks), send_at(ranks), receive_counts(ranks), receive_at(ranks),
      fill(ranks);
  for (std::uint64_t begin = 0; begin < most; begin += round_items) {
    const auto first = items.begin() + std::min<std::uint64_t>(begin, items.size());
    const auto last = items.begin() + std::min<std::uint64_t>(begin + round_items, items.size());

    std::fill(send_counts.begin(), send_counts.end(), 0);
    for (auto item = first; item != last; ++item) ++send_counts[owner(*item)];
    check(MPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, comm),
          "MPI_Alltoall");
    int sent = 0, arriving = 0;
    for (int r = 0; r < ranks; ++r) {
      send_at[r] = fill[r] = sent;
      receive_at[r] = arriving;
      sent += send_counts[r];
      arriving += receive_counts[r];
    }
    const std::size_t before = received.size();
    together(comm, [&] {
      outgoing.resize(sent);
      received.resize(before + arriving);
    });
    for (auto item = first; item != last; ++item) outgoing[fill[owner(*item)]++] = *item;
    check(MPI_Alltoallv(outgoing.data(), send_counts.data(), send_at.data(), MPI_UINT64_T,
                        received.data() + before, receive_counts.data(), receive_at.data(),
                        MPI_UINT64_T, comm),
          "MPI_Alltoallv");
  }
  return received;
}

}  // namespace apps
