// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/entry/agreement.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/mapping.h"
#include "mpi/process/agree.h"
#include "mpi/process/context.h"
#include "mpi/process/info_value.h"
#include "mpi/process/next.h"
#include "mpi/process/patience.h"
#include "mpi/window/sharing.h"
#include "mpi/window/visibility.h"
#include "telemetry/window_id.h"

namespace nearcache::mpi {
namespace {

// What all ranks of a window must know alike: the maximum of each word, in one small reduction in
// addition to the several that creation makes.
struct Agreement {
  int64_t late = 0;  // a rank did not wait for the others
  // the largest number that any rank would assign and the lowest rank of all make the window's id
  int64_t number = 0, minus_rank = 0;
  int64_t unit = 0, minus_unit = 0;  // displacement units: whether they differ
  int64_t invisible = 0;             // not every rank's calls are visible
  int64_t minus_least_bytes = 0;
  int64_t overlaps = 0;  // another window has some of the memory
  // not all ranks can cover the window by phases, or have covered it
  int64_t no_room = 0, uncovered = 0;
  int64_t wants_coherence = 0, slot = 0, bytes = 0;
  int64_t last_sharer = 0, first_sharer = 0;  // of a cache
};

// Whether a window's ranks can be covered by phases, and are.
struct Coverage {
  bool has_room = false, covered = false;
};

// Returns "", or why the window is to be left alone.
std::string agree_on_window(const Creation& creation, bool late, bool visible,
                            WindowIdentity* identity, Coverage* phases, Settled* settled) {
  CoherenceAgreed* const coherent = &settled->coherent;
  const int64_t unit = creation.unit;
  const SharersAgreed own(settled->shares, *identity);
  Agreement mine{.late = late,
                 .minus_rank = -int64_t{context.rank},
                 .unit = unit,
                 .minus_unit = -unit,
                 .invisible = !visible,
                 .minus_least_bytes = -identity->least_bytes,
                 .overlaps = identity->overlaps,
                 .no_room = !phases->has_room,
                 .uncovered = !phases->covered,
                 .wants_coherence = coherent->wanted,
                 .slot = coherent->slot,
                 .bytes = creation.memory.bytes,
                 .last_sharer = own.last,
                 .first_sharer = own.first};
  {
    const std::lock_guard lock(context.mutex);
    mine.number = context.next_window_id;
  }
  Agreement most;
  if (!agree(creation.comm, MPI_INT64_T, mine, &most)) return "MPI_Iallreduce failed";
  if (most.late != 0) {
    context.world.leave_alone(creation.comm);
    return "another rank does not answer";
  }
  identity->id = window_id(static_cast<int>(-most.minus_rank), most.number);
  identity->least_bytes = -most.minus_least_bytes;
  identity->overlaps = most.overlaps != 0;
  identity->unit = most.unit == -most.minus_unit && unit > 0 ? unit : 0;
  phases->has_room = most.no_room == 0;
  phases->covered = most.uncovered == 0;
  const bool all_can = most.slot < int64_t{Board::slots};
  coherent->wanted = most.wants_coherence != 0 && all_can;
  coherent->slot = static_cast<uint32_t>(most.slot);
  coherent->most_bytes = static_cast<uint64_t>(most.bytes);
  if (coherent->why_not.empty() && !all_can)
    coherent->why_not = "another rank says that it cannot be";
  SharersAgreed sharers;
  sharers.last = most.last_sharer;
  sharers.first = most.first_sharer;
  settled->shares = sharers.are_several(*identity);
  const std::lock_guard lock(context.mutex);
  context.next_window_id = std::max(context.next_window_id, most.number + 1);
  return most.invisible == 0 ? "" : "another rank's synchronisation is not visible";
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

std::string settle(const Creation& creation, ShareUse use, WindowIdentity* identity,
                   Settled* settled) {
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
  settled->shares = settled->shares && !late && why_not_shared(use, *identity).empty();
  // Shared windows are not cached, and what has their memory, too, says so itself. A rank may
  // expose memory of others on its node that it can reach, as the first one of a node does for all
  // of them; then it has mapped it shared.
  if (creation.obstacle == Obstacle::none && creation.memory.bytes > 0) {
    const void* const base = creation.memory.base;
    const auto bytes = static_cast<uint64_t>(creation.memory.bytes);
    const Mapping mapping = is_allocated_by_mpi(identity->handle)
                                ? Mapping{.shared = false, .readable = true}
                                : mapping_of(base, bytes);
    if (mapping.shared) {
      identity->changed_unseen = "other processes may store to its memory, which is mapped shared";
    } else if (mapping.of_file) {
      identity->changed_unseen = "its memory is a file's, which may be written to";
    }
    // unlike all memory from MPI_BOTTOM on, or addresses of which some are only reserved
    if (mapping.readable) identity->least_bytes = creation.memory.bytes;
    identity->overlaps = mapping.shared || context.coherence.is_exposed(base, bytes);
  }
  context_limit_memory();
  Coverage phases;
  phases.has_room = context.phases.has_room(members, &phases.covered);
  CoherenceAgreed& coherent = settled->coherent;
  coherent.why_not = why_never_coherent(creation, members, &coherent.slot);
  const std::string disagreement =
      agree_on_window(creation, late, visible, identity, &phases, settled);
  if (!visible || !disagreement.empty()) return visible ? disagreement : invisible;
  if (!phases.has_room) {
    context.phases.never_again();
  } else if (!phases.covered) {
    context.phases.cover(comm, members);
  }
  if (coherent.wanted) settled->board = context.coherence.board_for(comm, members);
  return "";
}

}  // namespace nearcache::mpi
