// SPDX-License-Identifier: BSD-3-Clause

// Puts to others' words of a hidden window that are known to have arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/mpi_api.h"
#include "mpi/process/insist.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {

// Gets `count` words of type MPI_UINT64_T from `place` of each target, to `values` one after the
// other. Returns false on failure; the values are then undefined.
//
// Like put_words, it completes by requests and not by a flush. That would also wait for accumulates
// on their way to the target, which may need the target's next call of MPI, although gets and puts
// do not (MPICH over UCX within a node, or over InfiniBand); and the target may not make one before
// it sees, by loads, a put that this rank has yet to make.
template <class Ranks>
bool get_words(MPI_Win window, const Ranks& targets, MPI_Aint place, int count, uint64_t* values) {
  std::vector<MPI_Request> requests(targets.size(), MPI_REQUEST_NULL);
  bool good = true;
  for (size_t i = 0; i < targets.size(); ++i) {
    good &= insist([&] {
      return next.Rget(values + i * static_cast<size_t>(count), count, MPI_UINT64_T,
                       static_cast<int>(targets[i]), place, count, MPI_UINT64_T, window,
                       &requests[i]);
    });
  }
  return next.Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE) ==
             MPI_SUCCESS &&
         good;
}

// What is put, where, and the word of 8 bytes of which it is a part.
struct PutWord {
  const void* value;
  MPI_Datatype type;
  MPI_Aint place, word;
};

// When this returns, the word has arrived at each target, as `seen` says of its value; except at
// those for which MPI has refused a call again and again, and then the result is false.
template <class Seen>
bool put_words(MPI_Win window, std::vector<int> targets, const PutWord& put, Seen seen) {
  bool good = true;
  std::vector<MPI_Request> requests;
  std::erase_if(targets, [&](int target) {
    MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
    const bool sent = insist([&] {
      return next.Rput(put.value, 1, put.type, target, put.place, 1, put.type, window, &request);
    });
    good &= sent;
    return !sent;
  });
  good &= next.Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE) ==
          MPI_SUCCESS;
  for (int left = 8; !targets.empty() && left > 0;) {
    std::vector<uint64_t> words(targets.size());
    if (!get_words(window, targets, put.word, 1, words.data())) {
      --left;
      continue;
    }
    size_t at = 0;
    std::erase_if(targets, [&](int) { return seen(words[at++]); });
  }
  return good && targets.empty();
}

}  // namespace nearcache::mpi
