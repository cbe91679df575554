// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/entry/agreement.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mapping.h"
#include "mpi/process/context.h"
#include "mpi/process/info_value.h"
#include "mpi/process/next.h"
#include "mpi/process/patience.h"
#include "mpi/window/sharing.h"
#include "mpi/window/visibility.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {
namespace {

// Establishes what all ranks of a window must know alike, in one small reduction in addition to the
// several that creation makes: the largest number that any of them would assign and the lowest rank
// of all, which make the window's id, whether displacement units differ, whether every rank's calls
// are visible, the minimum and maximum of the memory exposed, whether all can cover the window by
// phases, what coherence needs, whether some ranks want to share a cache, whether another window
// has some of the memory, and whether a rank is `late`, that is, did not wait for the others. A
// late rank says so and goes on; the others wait for it, since all ranks that have met know that
// every rank calls this. Returns "", or why the window is to be left alone.
std::string agree(MPI_Comm comm, const Creation& creation, bool late, bool visible,
                  WindowIdentity* identity, bool* has_room, bool* covered,
                  CoherenceAgreed* coherent, bool* shares) {
  Exchange exchange(15, 15);
  const int64_t unit = creation.unit;
  std::vector<uint64_t>& mine = exchange.sent();
  const std::vector<uint64_t>& most = exchange.received();
  {
    const std::lock_guard lock(context.mutex);
    mine[0] = static_cast<uint64_t>(context.next_window_id);
  }
  mine[1] = static_cast<uint64_t>(unit);
  mine[2] = static_cast<uint64_t>(-unit);
  mine[3] = visible ? 0 : 1;
  mine[4] = static_cast<uint64_t>(-identity->least_bytes);
  mine[5] = *has_room ? 0 : 1;
  mine[6] = coherent->wanted ? 1 : 0;
  mine[7] = coherent->slot;
  mine[8] = static_cast<uint64_t>(creation.memory.bytes);
  mine[9] = *covered ? 0 : 1;
  const SharersAgreed own(*shares, *identity);
  mine[10] = static_cast<uint64_t>(own.last);
  mine[11] = static_cast<uint64_t>(own.first);
  mine[12] = identity->overlaps ? 1 : 0;
  mine[13] = late ? 1 : 0;
  mine[14] = static_cast<uint64_t>(-int64_t{context.rank});
  if (next.Iallreduce(mine.data(), exchange.received().data(), static_cast<int>(mine.size()),
                      MPI_INT64_T, MPI_MAX, comm, exchange.request()) != MPI_SUCCESS)
    return "MPI_Iallreduce failed";
  if (late) {
    context.world.leave(std::move(exchange));
  } else if (!exchange.wait(no_limit)) {
    return "MPI_Iallreduce failed";
  }
  if (late || most[13] != 0) {
    context.world.leave_alone(comm);
    return "another rank does not answer";
  }
  const auto number = static_cast<int64_t>(most[0]);
  identity->id = window_id(static_cast<int>(-static_cast<int64_t>(most[14])), number);
  identity->least_bytes = -static_cast<int64_t>(most[4]);
  *has_room = most[5] == 0;
  coherent->wanted = most[6] != 0 && most[7] < Board::slots;
  coherent->slot = static_cast<uint32_t>(most[7]);
  coherent->most_bytes = most[8];
  *covered = most[9] == 0;
  SharersAgreed sharers;
  sharers.last = static_cast<int64_t>(most[10]);
  sharers.first = static_cast<int64_t>(most[11]);
  *shares = sharers.are_several(*identity);
  identity->overlaps = most[12] != 0;
  if (coherent->why_not.empty() && most[7] >= Board::slots)
    coherent->why_not = "another rank says that it cannot be";
  identity->unit = most[1] == -most[2] && unit > 0 ? unit : 0;
  const std::lock_guard lock(context.mutex);
  context.next_window_id = std::max(context.next_window_id, number + 1);
  return most[3] == 0 ? "" : "another rank's synchronisation is not visible";
}

// Returns why the window can never be coherent, or "" and a slot. It cannot be if a target's memory
// is not known, or if MPI_Win_free need not be a barrier (12.2.5), so that late words could hit the
// next window's slot.
std::string why_never_coherent(const Creation& creation, const std::vector<int>& members,
                               uint32_t* slot) {
  std::string why;
  if (creation.obstacle != Obstacle::none || creation.dynamic)
    return "it is a dynamic or shared window";
  if (info_value(creation.info, "no_locks") == "true")
    return "the info key no_locks: its end is not a barrier";
  if (!releases_are_visible(creation.caller, &why)) return why;
  return context.coherence.propose(members, slot);
}

bool is_allocated_by_mpi(MPI_Win handle) {
  int* flavor = nullptr;
  int found = 0;
  return next.Win_get_attr(handle, MPI_WIN_CREATE_FLAVOR, &flavor, &found) == MPI_SUCCESS &&
         found != 0 && *flavor == MPI_WIN_FLAVOR_ALLOCATE;
}

}  // namespace

std::string settle(const Creation& creation, WindowIdentity* identity, CoherenceAgreed* coherent,
                   Board** board, ShareUse use, bool* shares) {
  const MPI_Comm comm = creation.comm;
  std::string invisible;
  const bool visible = creation_is_visible(creation.caller, &invisible);
  next.Comm_rank(comm, &identity->rank);
  next.Comm_size(comm, &identity->ranks);
  const std::vector<int> members = context.world.members(comm);
  if (!context.world.known()) return "MPI is about to end";
  if (members.empty())
    return "its communicator reaches beyond the ranks that were started together";
  World::Met met;
  const bool late = !context.world.meet(comm, members, &met, patience_ns(identity->ranks));
  if (met.left_alone) return "one of its ranks was late";
  identity->far = std::move(met.far);
  *shares = *shares && !late && why_not_shared(use, *identity).empty();
  // Shared windows are not cached, and what has their memory, too, says so itself. A rank may
  // expose memory of others on its node that it can reach, as the first one of a node does for all
  // of them; then it has mapped it shared.
  if (creation.obstacle == Obstacle::none && creation.memory.bytes > 0) {
    const void* const base = creation.memory.base;
    const auto bytes = static_cast<uint64_t>(creation.memory.bytes);
    const Mapping mapping = is_allocated_by_mpi(identity->handle)
                                ? Mapping{.shared = false, .readable = true}
                                : mapping_of(base, bytes);
    identity->mapped_shared = mapping.shared;
    // unlike all memory from MPI_BOTTOM on, or addresses of which some are only reserved
    if (mapping.readable) identity->least_bytes = creation.memory.bytes;
    identity->overlaps = identity->mapped_shared || context.coherence.is_exposed(base, bytes);
  }
  context_limit_memory();
  bool covered = false;
  bool has_room = context.phases.has_room(members, &covered);
  coherent->why_not = why_never_coherent(creation, members, &coherent->slot);
  const std::string disagreement =
      agree(comm, creation, late, visible, identity, &has_room, &covered, coherent, shares);
  if (!visible || !disagreement.empty()) return visible ? disagreement : invisible;
  if (!has_room) {
    context.phases.never_again();
  } else if (!covered) {
    context.phases.cover(comm, members);
  }
  if (coherent->wanted) *board = context.coherence.board_for(comm, members);
  return "";
}

}  // namespace nearcache::mpi
