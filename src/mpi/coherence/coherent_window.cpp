// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coherence/coherent_window.h"

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "front/optional_lock.h"
#include "mpi/process/context.h"
#include "mpi/process/next.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {
namespace {

// after this many consecutive validations that gained next to nothing, and twice as many as there
// are targets, this rank stops keeping anything
constexpr uint32_t most_barren = 4;
constexpr uint32_t most_noisy = 4096;  // likewise for consecutive gets while some rank writes
// likewise for consecutive releases without a get that is looked up
constexpr uint32_t most_unasked = 256;
constexpr uint32_t most_noisy_releases = 64;  // and for consecutive ones while some rank writes
constexpr uint64_t kept_worth_it = 1024;      // hits after which it may soon try again
constexpr uint32_t most_repeats_wanted = 1u << 20;
// between two checks whether all ranks have acknowledged
constexpr uint64_t longest_pause_ns = 100000000;
constexpr size_t most_at_once = 64;  // targets whose words are read together

}  // namespace

CoherentWindow::CoherentWindow(Window* window, Board* board, uint32_t slot, Regions regions,
                               Memory memory, WriteTracker* tracker, Allowances* allowances)
    : window_(*window),
      board_(board),
      slot_(slot),
      regions_(regions),
      own_(memory.base, memory.bytes, regions, &board->slot(slot).words, tracker,
           &allowances->watching),
      written_(board->ranks()),
      closing_(allowances->closing),
      repeats_wanted_(repeats_before_asking()) {
  window_.tell_of_arrivals(&repeats_);
}

CoherentWindow::~CoherentWindow() { window_.tell_of_arrivals(nullptr); }

// --- Writes to others' memory. ---

bool CoherentWindow::look() {
  const Slot& mine = board_->slot(slot_);
  const uint64_t left = Board::load(&mine.left);  // read before `joined`, which is never less
  const uint64_t joined = Board::load(&mine.joined);
  if (joined != acked_) [[unlikely]]
    take_notice(joined);
  return joined != left;
}

// Before readers may rely on announcements, announces what was issued without one and may still be
// in flight, and locks of which nobody was told.
void CoherentWindow::take_notice(uint64_t joined) {
  window_.wake();
  for (uint32_t target = 0; target < written_.size(); ++target) {
    if (!outstanding(target)) continue;
    written_[target].by_epoch = written_[target].by_epoch || wrote_by_epoch_;
    open(target, ~written_[target].open);
  }
  tell_of_locks();
  acked_ = joined;
  Board::store(&board_->slot(slot_).acked, joined);
}

// Returns true if some of this rank's writes may not have arrived at the target yet.
bool CoherentWindow::outstanding(uint32_t target) const {
  return wrote_by_epoch_ || unfinished(target);
}

// The same, except for writes of epochs of MPI_Win_start. The end of any other epoch completes all.
bool CoherentWindow::unfinished(uint32_t target) const {
  return window_.epochs().open(target) && window_.epochs().writes_outstanding(target);
}

void CoherentWindow::open(uint32_t target, uint64_t regions) {
  if (regions == 0) return;
  const uint64_t began = clock_ticks();
  Written& its = written_[target];
  its.open |= regions;
  if (!board_->open(slot_, target, regions)) its.open = its.for_good = ~uint64_t{0};
  if (!its.listed) {
    its.listed = true;
    open_at_.push_back(target);
  }
  ++opens_;
  closing_.spent(clock_ticks() - began);
}

uint64_t CoherentWindow::regions_of(uint32_t target, int64_t from, int64_t to) {
  uint64_t& lead = written_[target].lead;
  if (lead == 0) [[unlikely]]
    lead = board_->read_lead(slot_, target);
  return lead == 0 ? ~uint64_t{0} : regions_.led_by(lead - 1).mask(from, to);
}

void CoherentWindow::writes(uint32_t target, int64_t from, int64_t to) {
  const OptionalLock lock(context.threaded ? &context.coherence.mutex() : nullptr);
  const bool by_epoch = window_.epochs().started(target);
  wrote_by_epoch_ = wrote_by_epoch_ || by_epoch;
  if (!look()) return;
  window_.wake();  // from now on, what is outstanding is noted
  Written& its = written_[target];
  its.by_epoch = its.by_epoch || by_epoch;
  const uint64_t regions = regions_of(target, from, to) & ~its.open;
  if (regions != 0) [[unlikely]]
    open(target, VersionWords::to_open(its.open, regions));
}

void CoherentWindow::never_again(uint32_t target) {
  open(target, ~written_[target].open);
  written_[target].for_good = ~uint64_t{0};
}

void CoherentWindow::never_again() {
  stop_reading();
  own_.never("the program has MPI_THREAD_MULTIPLE");
  for (uint32_t target = 0; target < written_.size(); ++target) never_again(target);
}

void CoherentWindow::start_ends() {
  const OptionalLock lock(context.threaded ? &context.coherence.mutex() : nullptr);
  if (window_.paused() && window_.writes_may_be_outstanding()) wrote_by_epoch_ = true;
}

// Perhaps in an epoch of MPI_Win_start, which goes on.
void CoherentWindow::wrote_unnoted() {
  if (window_.epochs().some_started()) wrote_by_epoch_ = true;
}

void CoherentWindow::fenced() {
  wrote_by_epoch_ = false;
  for (const uint32_t target : open_at_) written_[target].by_epoch = false;
}

// Closing regions incurs the cost of opening them again, so it is done only while opening and
// closing take a small share of the time.
void CoherentWindow::close_some(uint64_t now) {
  if (open_at_.empty() || !closing_.left(now)) return;
  bool any = false;
  std::erase_if(open_at_, [&](uint32_t target) {
    Written& its = written_[target];
    if (its.by_epoch || unfinished(target) || window_.epochs().locked_exclusively(target))
      return false;
    const uint64_t regions = its.open & ~its.for_good;
    board_->close(slot_, target, regions);
    any = any || regions != 0;
    its.open &= its.for_good;
    its.listed = its.open != 0;
    return !its.listed;
  });
  if (!any) return;
  ++closes_;
  closing_.spent(clock_ticks() - now);
}

void CoherentWindow::publish() {
  if (state_ != State::idle) released();
  if (!look()) return;
  close_some(clock_ticks());
  own_.look();
}

void CoherentWindow::attend() {
  if (Board::load(&board_->slot(slot_).joined) != acked_) publish();
}

// Readers keep nothing of targets that this rank has locked exclusively.
void CoherentWindow::tell_of_locks() {
  for (uint32_t target = 0; target < written_.size(); ++target) {
    if (window_.epochs().locked_exclusively(target)) open(target, ~written_[target].open);
  }
}

// Other ranks were told of an exclusive lock in this phase only. In the next one, a reader whose
// shared lock is deferred would not wait for it.
void CoherentWindow::meets() {
  if (look()) tell_of_locks();
}

void CoherentWindow::end() {
  stop_reading();
  board_->wait_for_all();
}

// --- The reader. ---

void CoherentWindow::missed() {
  if (state_ == State::idle && repeats_.count() >= repeats_wanted_ &&
      window_.mode() == Mode::coherent && context.phases.may_be_quiet())
    join();
}

void CoherentWindow::join() {
  window_.tell_of_arrivals(nullptr);
  context.phases.ask();  // else each completion is an acquire, and all must be validated
  board_->join(slot_, &numbers_, &requests_);
  state_ = State::joins;
  pause_ = ask_at_ = 0;
  noisy_ = unasked_ = noisy_releases_ = 0;
}

// Makes progress towards the point from which all ranks announce their writes.
void CoherentWindow::step() {
  if (state_ == State::joins) {
    int done = 0;
    next.Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) return;
    waited_for_.clear();
    for (uint32_t rank = 0; rank < board_->ranks(); ++rank) waited_for_.push_back(rank);
    state_ = State::waits;
  }
  const uint64_t now = clock_ticks();
  if (now < ask_at_) return;
  look();  // this rank is one of them
  board_->read_acked(slot_, waited_for_, &answers_);
  size_t left = 0;
  for (size_t i = 0; i < waited_for_.size(); ++i) {
    if (answers_[i] <= numbers_[waited_for_[i]]) waited_for_[left++] = waited_for_[i];
  }
  waited_for_.resize(left);
  const uint64_t after = clock_ticks();
  pause_ = std::min(2 * std::max(pause_, after - now), ns_to_ticks(longest_pause_ns));
  ask_at_ = after + pause_;
  if (!context.phases.reading()) return give_up();  // there will be no quiet phases
  if (left != 0 || !context.phases.is_told()) return;
  told_since_ = context.phases.changes_of_mind();
  state_ = State::reads;
  window_.keep_across_acquires(regions_);
}

void CoherentWindow::prepare(uint32_t target) {
  if (state_ == State::idle) return;
  unasked_ = 0;
  if (state_ != State::reads) {
    step();
    if (state_ != State::reads) return;
  }
  // While others did not have to notify this rank, it may have learned of writes that versions do
  // not show.
  if (context.phases.changes_of_mind() != told_since_) return give_up();
  // Otherwise a load from this rank's memory may carry news of a write at any time, and each
  // completion is an acquire (mpi/process/phases.h).
  if (!context.phases.quiet()) {
    if (++noisy_ >= most_noisy) give_up();
    return;
  }
  noisy_ = 0;
  if (context.phases.locked_exclusively()) return;
  if (window_.certainly_open(target) && window_.wants_validation(target)) validate(target);
}

void CoherentWindow::validate(uint32_t target) {
  asked_.assign(1, target);
  for (const uint32_t other : window_.targets_of_versions()) {
    if (asked_.size() == most_at_once) break;
    if (other != target && window_.likely_needed(other) && window_.certainly_open(other))
      asked_.push_back(other);
  }
  board_->read(slot_, asked_, &words_);
  for (size_t i = 0; i < asked_.size(); ++i)
    regions_changed_ += window_.validated(asked_[i], words_[i]);
  validations_ += asked_.size();
  if (window_.barren_validations() >= std::max<uint64_t>(most_barren, 2 * asked_.size())) give_up();
}

// While a rank is a reader, no rank's paused calls take their shortest way, and owners look for
// their stores. Until a rank has joined it cannot leave.
void CoherentWindow::pauses() {
  if (state_ == State::waits || state_ == State::reads) give_up();
}

// Gives up if others announce their writes but nothing is kept: this rank no longer gets anything,
// or some rank writes all the time.
void CoherentWindow::released() {
  noisy_releases_ = context.phases.quiet() ? 0 : noisy_releases_ + 1;
  if (++unasked_ < most_unasked && noisy_releases_ < most_noisy_releases) return;
  unasked_ = noisy_releases_ = 0;
  state_ == State::joins ? step() : give_up();
}

// Keeping does not pay off, or no longer does: tries again only when there is more to gain.
void CoherentWindow::give_up() {
  const uint64_t before = hits_kept_;
  leave();
  const auto first = repeats_before_asking();
  repeats_wanted_ = hits_kept_ - before >= kept_worth_it
                        ? first
                        : std::max(repeats_wanted_, std::min(4 * std::max(repeats_wanted_, 1u),
                                                             most_repeats_wanted));
}

uint64_t CoherentWindow::hits_kept() const { return hits_kept_ + (keeps() ? window_.kept() : 0); }

void CoherentWindow::leave() {
  hits_kept_ = hits_kept();
  window_.drop_at_acquires();
  board_->leave(slot_);
  state_ = State::idle;
  repeats_.forget();
  window_.tell_of_arrivals(&repeats_);
  context.phases.ask_no_longer();
}

void CoherentWindow::stop_reading() {
  if (state_ == State::idle) return;
  if (state_ == State::joins)
    next.Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  leave();
}

}  // namespace nearcache::mpi
