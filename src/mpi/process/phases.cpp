// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/phases.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/clock.h"
#include "front/optional_lock.h"
#include "mpi/process/context.h"
#include "mpi/process/next.h"
#include "mpi/process/put_words.h"
#include "mpi/rma/layer.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

constexpr uint64_t hits_worth_it = 64;  // that make a quiet phase worthwhile
// after this many consecutive phases with fewer hits in which some rank wrote, this rank no longer
// asks to be told
constexpr uint32_t barren_limit = 8;
constexpr uint32_t repeats_limit = 1 << 20;

// The hidden windows' displacement unit is half a word.
using Half = uint32_t;
constexpr MPI_Aint lower_half = std::endian::native == std::endian::little ? 0 : 1;
constexpr MPI_Aint at_word(size_t word) { return static_cast<MPI_Aint>(2 * word); }

// A word that others write may be read by a load only if public and private copies are unified.
bool is_unified([[maybe_unused]] MPI_Win window) {
#ifdef NEARCACHE_FAMILY_SIMGRID
  return true;  // has no such attribute; all ranks are in one process
#endif
  int* model = nullptr;
  int found = 0;
  return next.Win_get_attr(window, MPI_WIN_MODEL, &model, &found) == MPI_SUCCESS && found != 0 &&
         *model == MPI_WIN_UNIFIED;
}

}  // namespace

bool Phases::Companion::untold_readers(uint64_t phase) const {
  for (size_t i = 0; i < reader_words; ++i) {
    const uint64_t its = readers(i);
    if (its != 0 && (__atomic_load_n(&told_in, __ATOMIC_ACQUIRE) != phase ||
                     (its & ~__atomic_load_n(&told[i], __ATOMIC_ACQUIRE)) != 0))
      return true;
  }
  return false;
}

void Phases::configure([[maybe_unused]] uint64_t longest_age_ns, uint32_t repeats) {
  repeats_wanted_ = repeats;
#ifdef NEARCACHE_FAMILY_SIMGRID
  expires_ = UINT64_MAX;  // a second of real time is some microseconds of simulated time
#else
  age_ticks_ = ns_to_ticks(longest_age_ns);
  expires_ = clock_ticks() + age_ticks_;
#endif
}

bool Phases::is_covered(const std::vector<int>& members) const {
  return members.size() < 2 ||
         std::any_of(groups_.begin(), groups_.begin() + companions_,
                     [&](const Companion& group) { return group.members == members; });
}

bool Phases::has_room(const std::vector<int>& members, bool* covered) {
  const std::lock_guard lock(mutex_);
  *covered = is_covered(members);
  if (*covered) return true;
  // Ending a session is not a call of all ranks, so the hidden windows could not be freed then.
  return context.world.has_model() && !host_has(HostDefect::put_never_arrives) &&
         companions_ < most_groups && members.size() <= most_ranks;
}

// The mutex is not held during collective calls: threads create windows on several communicators at
// once, and elsewhere in a different order.
void Phases::cover(MPI_Comm comm, const std::vector<int>& members) {
  Companion group;
  group.members = members;
  group.reader_words = (members.size() + 63) / 64;
  group.told.resize(group.reader_words);
  int rank = 0;
  next.Comm_rank(comm, &rank);
  group.rank = static_cast<uint32_t>(rank);
  const size_t bytes = (1 + group.reader_words) * sizeof(uint64_t);
  group.words = static_cast<uint64_t*>(
      group.window.allocate(comm, static_cast<MPI_Aint>(bytes), sizeof(Half)));
  const bool allocated = group.words != nullptr;
  if (allocated) {
    std::fill_n(group.words, 1 + group.reader_words, 0);
    {
      const std::lock_guard lock(mutex_);
      group.order = static_cast<uint64_t>(context.rank) << 32 | ++made_;
    }
    next.Bcast(&group.order, 1, MPI_UINT64_T, 0, comm);
    group.window.open();
  }
  const std::lock_guard lock(mutex_);
  const uint32_t count = companions_;
  if (!allocated) return never_again();
  if (count == most_groups) {  // other threads have covered theirs since has_room()
    unused_.push_back(std::move(group));
    return never_again();
  }
  if (!is_unified(group.window.get())) never_again();
  words_[count] = group.words;
  if (group.reader_words > 1) wide_ = 1;
  groups_[count] = std::move(group);
  companions_.store(count + 1, std::memory_order_release);
  choose_word_of_readers();
  rma_look_again();
  announce(&groups_[count]);
  update_quiet();
}

void Phases::never_again() {
  uncovered_ = true;
  update_quiet();
}

void Phases::stop() {
  const std::lock_guard lock(mutex_);
  const uint32_t count = companions_.exchange(0);
  choose_word_of_readers();
  rma_look_again();
  acquires_->quiet = false;
  std::vector<Companion*> all;
  for (uint32_t i = 0; i < count; ++i) all.push_back(&groups_[i]);
  for (Companion& group : unused_) all.push_back(&group);
  // threads elsewhere have created them in a different order
  std::ranges::sort(all, {}, [](const Companion* group) { return group->order; });
  for (Companion* group : all) {
    if (!group->requests.empty())
      next.Waitall(static_cast<int>(group->requests.size()), group->requests.data(),
                   MPI_STATUSES_IGNORE);
    group->window.free();
    *group = Companion();
  }
  unused_.clear();
  reading_ = on_the_way_ = false;
}

// --- Readers. ---

uint32_t Phases::was_missed(Missed* slot, uint64_t line) const {
  const Missed now{static_cast<uint32_t>(line >> 28),
                   acquires_->learned.load(std::memory_order_relaxed)};
  const bool was = slot->line == now.line && slot->learned == now.learned;
  *slot = now;
  return was;
}

// Repeats between two acquires are the gets that a quiet phase would serve.
void Phases::look_for_repeats(uint64_t line) {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  repeats_ += was_missed(&missed_[line % (missed_.size() / 2)], line);
  if (line >> 60 == 0)
    repeats_ += 16 * was_missed(&missed_[missed_.size() / 2 + line % (missed_.size() / 2)], line);
  if (reading_ || repeats_ < repeats_wanted_ || !may_be_quiet()) return;
  announce(true);
}

bool Phases::may_be_quiet() const {
  return !uncovered_ && companions_ != 0 && !context.options.strict_flush;
}

void Phases::ask() {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  ++asking_;
  if (reading_ || !may_be_quiet()) return;
  asked_ = true;
  announce(true);
}

void Phases::ask_no_longer() {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  if (--asking_ > 0 || !asked_) return;
  asked_ = false;
  if (reading_) announce(false);
}

void Phases::announce(bool reading) {
  changes_of_mind_ += 1;
  reading_ = reading;
  repeats_ = barren_ = 0;
  for (uint32_t i = 0; i < companions_; ++i) announce(&groups_[i]);
  update_quiet();
}

// Other ranks add the bit to their words, or take it back, when they make progress; the results of
// the fetching accumulates confirm that they have. While the last announcement is in flight, step()
// makes this one later: nobody waits for others' progress here.
void Phases::announce(Companion* group) {
  if (group->reading == reading_ || !group->requests.empty()) return;
  group->reading = reading_;
  static constexpr std::array<uint64_t, 64> bits = [] {
    std::array<uint64_t, 64> all{};
    for (size_t i = 0; i < 64; ++i) all[i] = uint64_t{1} << i;
    return all;
  }();
  static constexpr std::array<uint64_t, 64> minus = [] {
    std::array<uint64_t, 64> all{};
    for (size_t i = 0; i < 64; ++i) all[i] = -(uint64_t{1} << i);
    return all;
  }();
  const uint64_t& word = (group->reading ? bits : minus)[group->rank % 64];
  group->results.resize(group->members.size());
  for (uint32_t target = 0; target < group->members.size(); ++target) {
    if (target == group->rank) continue;
    MPI_Request request = MPI_REQUEST_NULL;
    next.Rget_accumulate(&word, 1, MPI_UINT64_T, &group->results[target], 1, MPI_UINT64_T,
                         static_cast<int>(target), at_word(1 + group->rank / 64), 1, MPI_UINT64_T,
                         MPI_SUM, group->window.get(), &request);
    group->requests.push_back(request);
  }
  on_the_way_ = true;
}

void Phases::step() {
  if (context.threaded && !mutex_.try_lock()) return;
  bool all = true;
  for (uint32_t i = 0; i < companions_; ++i) {
    Companion& group = groups_[i];
    if (group.requests.empty()) continue;
    int done = 0;
    next.Testall(static_cast<int>(group.requests.size()), group.requests.data(), &done,
                 MPI_STATUSES_IGNORE);
    if (done != 0) {
      group.requests.clear();
      announce(&group);
    }
    all = all && group.requests.empty();
  }
  on_the_way_ = !all;
  update_quiet();
  if (context.threaded) mutex_.unlock();
}

void Phases::update_quiet() {
  const bool quiet = reading_ && !on_the_way_ && !uncovered_ && !heard();
  if (acquires_->quiet.exchange(quiet) == quiet) return;
  acquires_->add(true);  // gets in flight were issued before
}

// A rank writes: what was read is dropped, and completing a get is an acquire until the next phase.
void Phases::end_quiet() {
  if (acquires_->quiet.exchange(false)) acquires_->add(true);
}

// A phase has ended: decides whether being told pays off. `noisy`: some rank wrote in it.
void Phases::judge(bool noisy) {
  const uint64_t now = hits();
  if (now - hits_before_ >= hits_worth_it) {
    barren_ = 0;
  } else if (noisy) {
    ++barren_;
  }
  hits_before_ = now;
  if (barren_ < barren_limit || on_the_way_ || repeats_wanted_ == 0) return;  // 0: keep asking
  repeats_wanted_ = std::max(repeats_wanted_, std::min(4 * repeats_wanted_, repeats_limit));
  announce(false);
}

uint64_t Phases::hits() const {
  uint64_t sum = 0;
  for (const Window* window : context.windows.all()) {
    if (ends_at_acquires(window->mode())) sum += window->hits();
  }
  return sum;
}

// With several threads there is only one phase, because any of them may be anywhere when one leaves
// a collective call. All other ranks count from their start, whether they have windows or not.
void Phases::everybody_met() {
  if (context.threaded) return;
  const bool noisy = reading_ && heard();
  ++phase_;
  if (phase_ == last_phase) {
    miscounted();
    never_again();
  }
  if (!reading_) return;
  if (on_the_way_) step();
  judge(noisy);
  update_quiet();
}

// From now on this rank announces its writes as belonging to a phase that never ends.
void Phases::miscounted() {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  miscounted_ = true;
  for (uint32_t i = 0; i < companions_; ++i)
    __atomic_store_n(&groups_[i].told_in, never, __ATOMIC_RELEASE);
}

void Phases::expire(uint64_t now) {
  expires_ = now + age_ticks_;
  if (acquires_->quiet) acquires_->add(true);
}

// --- Writers. ---
//
// Readers are told by puts, not by accumulates: a reader may be waiting for this very rank's put
// with loads of its own memory. A host whose puts need no call there (MPICH over UCX within a node,
// or over InfiniBand) may still let accumulates wait for one, and nobody would go on. Concurrent
// puts to a half word agree: all that write in a phase put the same number, and it only grows, as
// whoever leaves a phase has waited for all its puts.

bool Phases::untold_readers() const {
  return std::any_of(groups_.begin(), groups_.begin() + companions_,
                     [this](const Companion& group) { return group.untold_readers(phase_); });
}

void Phases::tell_readers() {
  const OptionalLock lock(context.threaded ? &mutex_ : nullptr);
  for (uint32_t i = 0; i < companions_; ++i) tell_readers(&groups_[i]);
}

void Phases::tell_readers(Companion* group) {
  if (!group->untold_readers(phase_)) return;
  if (group->told_in != phase_) std::ranges::fill(group->told, 0);
  std::vector<uint64_t> told = group->told;
  // threads do not count phases: they may write in any
  const bool counts = !context.threaded && !miscounted_;
  const Half after = counts ? static_cast<Half>(phase_ + 1) : 1;
  std::vector<int> targets;
  for (uint32_t target = 0; target < group->members.size(); ++target) {
    const uint64_t bit = uint64_t{1} << target % 64;
    if ((group->readers(target / 64) & bit & ~told[target / 64]) == 0) continue;
    told[target / 64] |= bit;
    targets.push_back(static_cast<int>(target));
  }
  const MPI_Aint half = counts ? lower_half : 1 - lower_half;
  put_words(group->window.get(), std::move(targets), {&after, MPI_UINT32_T, half, at_word(0)},
            [&](uint64_t word) { return counts ? word >= after : word > UINT32_MAX; });
  // From here on, other threads may write without telling readers.
  for (size_t i = 0; i < told.size(); ++i)
    __atomic_store_n(&group->told[i], told[i], __ATOMIC_RELEASE);
  __atomic_store_n(&group->told_in, phase_, __ATOMIC_RELEASE);
}

}  // namespace nearcache::mpi
