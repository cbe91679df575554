// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/engine_window.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/log.h"
#include "mpi/process/info_value.h"
#include "mpi/process/next.h"
#include "mpi/rma/fetches.h"
#include "mpi/rma/layer.h"
#include "mpi/types/type_map.h"
#include "rma/execute.h"

namespace nearcache::mpi {
namespace {

using rma::Kind;
using rma::LockType;
using rma::Mark;
using rma::Status;
using rma::Transfer;

constexpr uint64_t most_bytes = uint64_t{1} << 62;  // far beyond any memory

// Holds a result that is not a single run until all of it has arrived. The datatype may be freed
// before that.
struct Landing {
  Landing(void* to, const Runs& of) : bytes(of.bytes), address(to), runs(of) {
    if (runs.elements.layout != nullptr) layout_hold(runs.elements.layout);
  }
  ~Landing() {
    if (runs.elements.layout != nullptr) layout_drop(runs.elements.layout);
  }
  Landing(const Landing&) = delete;
  Landing& operator=(const Landing&) = delete;

  std::vector<std::byte> bytes;
  void* address;
  Runs runs;
};

void land(void* context, Status status) {
  const std::unique_ptr<Landing> landing(static_cast<Landing*>(context));
  if (status == Status::ok) unpack(landing->bytes.data(), landing->address, landing->runs);
}

// Sets where the result of a transfer goes.
void set_result(Transfer* transfer, void* address, const Runs& runs) {
  if (runs.one_run()) {
    transfer->result = static_cast<std::byte*>(address) + runs.first;
    return;
  }
  auto landing = std::make_unique<Landing>(address, runs);
  transfer->result = landing->bytes.data();
  transfer->completion = {land, landing.release()};
}

void set_target(Transfer* transfer, const Target& target, const Runs& runs,
                std::vector<rma::Piece>* single) {
  transfer->target = target.rank;
  transfer->displacement = target.displacement;
  transfer->length = runs.bytes;
  if (const Layout* layout = runs.elements.layout; layout != nullptr) {
    const auto block = [](const void* of, uint64_t which) {
      const Block& here = static_cast<const Layout*>(of)->blocks[which];
      return rma::Piece{here.offset, here.length};
    };
    transfer->layout = {layout->id, layout->size, layout->extent, layout->blocks.size(),
                        layout,     block};
  }
  if (runs.one_run() && runs.first != 0) *single = {{runs.first, runs.bytes}};
  transfer->pieces = single->empty() ? std::span(runs.pieces) : std::span(*single);
}

}  // namespace

EngineWindow::~EngineWindow() { next.Group_free(&group_); }

int EngineWindow::report_error(int rc) const {
  below_engine().Win_call_errhandler(handle_, rc);
  return rc;
}

int EngineWindow::settled(Status status) const {
  const auto lost = [&](const char* what) {
    log(LogLevel::warning, "one-sided communication failed: %s%s", what,
        station_->engine().why_lost().c_str());
    return MPI_ERR_OTHER;
  };
  switch (status) {
    case Status::ok:
      return MPI_SUCCESS;
    case Status::out_of_range:
      return MPI_ERR_RMA_RANGE;
    case Status::bad_operation:
      return MPI_ERR_OP;
    case Status::not_locked:
      return MPI_ERR_RMA_SYNC;
    case Status::no_window:
      return MPI_ERR_WIN;
    case Status::lost_peer:
      return lost("");
    case Status::half_done:
      return lost(
          "a rank has ended in the middle of an accumulate, so nobody knows what is in the "
          "window: ");
    case Status::lost_lock:
      return lost(
          "a rank has ended while it took or gave back a lock, so nobody knows who has it: ");
  }
  return MPI_ERR_OTHER;
}

// Operations

int EngineWindow::check(const Target& target) const {
  if (target.count < 0) return MPI_ERR_COUNT;
  if (!valid_rank(target.rank)) return MPI_ERR_RANK;
  if (target.type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
  if (target.displacement < 0 && shape_.flavor != MPI_WIN_FLAVOR_DYNAMIC) return MPI_ERR_DISP;
  return may_access(target.rank) ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

void EngineWindow::issue(const rma::Agent::Lock& lock, Transfer transfer) {
  while (!window_->issue(&transfer))
    station_->agent().wait(lock, [&] { return !window_->crowded(transfer.target); });
  open(transfer.target);
}

void EngineWindow::open(int rank) {
  rma::Near* const near = window_->near(rank);
  if (near == nullptr) return;
  near->open.store(!window_->ready(rank) ? Open::no
                   : passive(rank)       ? Open::passive
                                         : Open::active,
                   std::memory_order_relaxed);
}

void EngineWindow::close(int rank) {
  if (rma::Near* const near = window_->near(rank); near != nullptr)
    near->open.store(Open::no, std::memory_order_relaxed);
}

void EngineWindow::end_fences() {
  fenced_ = false;
  for (rma::Near& near : window_->nears()) near.open.store(Open::no, std::memory_order_relaxed);
}

void EngineWindow::await_turn_in_queue(rma::Agent::Lock* lock, int rank) {
  rma::Agent& agent = station_->agent();
  agent.send(*lock);
  lock->without([&] { agent.wait(&window_->bell(), [&] { return window_->has_turn(rank); }); });
  agent.poll(*lock);  // takes the turn, and informs other threads of what came with it
}

void EngineWindow::await_turns(rma::Agent::Lock* lock) {
  for (const rma::Near& near : window_->nears()) {
    if (near.queued && !window_->lock_is_awaited(near.rank)) await_turn_in_queue(lock, near.rank);
  }
}

void EngineWindow::hand_over(const rma::Near& near) {
  if (!window_->hand_over(near)) return;
  const rma::Agent::Lock lock(&station_->agent());
  window_->tell_freed(near);
  station_->agent().send(lock);
}

namespace {

// Copies a word in one instruction, without a call.
void copy(void* to, const void* from, uint64_t bytes) {
  if (bytes == sizeof(uint64_t)) {
    std::memcpy(to, from, sizeof(uint64_t));
  } else {
    std::memcpy(to, from, bytes);
  }
}

Computation::OfWord of_word(rma::Operation operation, rma::Element element) {
  using OfWord = Computation::OfWord;
  if (rma::size_of(element) != sizeof(uint64_t)) return OfWord::other;
  const bool counter = element == rma::Element::int64 || element == rma::Element::uint64;
  switch (operation) {
    case rma::Operation::no_op:
      return OfWord::nothing;
    case rma::Operation::replace:
      return OfWord::replace;
    case rma::Operation::sum:
      return counter ? OfWord::add : OfWord::other;
    default:
      return OfWord::other;
  }
}

}  // namespace

// Returns false if the operation is undefined for the type, if the type has not been seen yet, or
// if the operation only moves a type with gaps, whose gaps must not be written.
bool EngineWindow::known(MPI_Op op, MPI_Datatype type, Computation* computation) {
  const Computation& last = recent_operations.computation;
  if (!context.threaded && op == last.op && type == last.type) {
    *computation = last;
    return true;
  }
  const std::optional<rma::Operation> operation = operation_of(op);
  const rma::Element* const element = known_elements.find(type);
  if (!operation || element == nullptr || !rma::has_meaning(*operation, *element)) return false;
  const Layout* const layout = named_types.find(type);
  const bool computes =
      *operation != rma::Operation::replace && *operation != rma::Operation::no_op;
  if (!computes && (layout == nullptr || !layout->dense)) return false;
  *computation = {
      op, type, *operation, *element, of_word(*operation, *element), rma::size_of(*element)};
  if (!context.threaded) recent_operations.computation = *computation;
  return true;
}

// Executes accumulates with the same predefined type at both ends.
bool EngineWindow::compute_at_once(const OriginBuffer& origin, void* result, const Target& target,
                                   MPI_Op op) {
  Computation what;
  if (origin.type != target.type || origin.count != target.count ||
      !known(op, target.type, &what) ||
      (what.operation == rma::Operation::no_op && result == nullptr))
    return false;
  uint64_t bytes;
  std::byte* const at = at_once(target.type, target.count, target, &bytes);
  if (at == nullptr || bytes > rma::most_at_a_time) return false;
  rma::Mutex& elements = window_->near(target.rank)->commons->elements;
  if (!elements.lock_intact(process_)) return false;  // reported by the slow path
  if (result != nullptr) copy(result, at, bytes);
  rma::apply(what.operation, what.element, at, static_cast<const std::byte*>(origin.address),
             static_cast<size_t>(target.count));
  elements.unlock();
  return true;
}

// Like compute_at_once(), but as one message. All types are the same and have no gaps, so the host
// need not be asked about them.
bool EngineWindow::compute_plainly(const rma::Agent::Lock& lock, const OriginBuffer& origin,
                                   const ResultBuffer* result, const Target& target, MPI_Op op) {
  Computation what;
  uint64_t bytes;
  if (origin.type != target.type || origin.count != target.count ||
      (result != nullptr && (result->type != target.type || result->count != target.count)) ||
      !known(op, target.type, &what) || what.operation == rma::Operation::no_op ||
      !plain_bytes(target.type, target.count, &bytes))
    return false;
  issue(lock,
        {.kind = result != nullptr ? Kind::fetch : Kind::accumulate,
         .target = target.rank,
         .displacement = target.displacement,
         .length = bytes,
         .data = static_cast<const std::byte*>(origin.address),
         .result = result != nullptr ? static_cast<std::byte*>(result->address) : nullptr,
         .element = what.operation == rma::Operation::replace ? rma::Element::bytes : what.element,
         .operation = what.operation});
  return true;
}

// Moves data through the kernel. If that fails, the operation is made again in full.
bool EngineWindow::moved_at_once(Kind kind, void* address, MPI_Count count, MPI_Datatype type,
                                 const Target& target) {
  const rma::Near* const near = window_->near(target.rank);
  uint64_t bytes, there;
  if (near == nullptr || !near->reaches(rma::Near::Reach::process) ||
      near->open.load(std::memory_order_relaxed) == Open::no || !plain_bytes(type, count, &bytes) ||
      !plain_bytes(target.type, target.count, &there) || there != bytes)
    return false;
  if (kind == Kind::put) recent_operations.note_store();
  return rma::Window::move_at_once(*near, kind, target.displacement, address, bytes);
}

int EngineWindow::put_in_full(const OriginBuffer& origin, const Target& target) {
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const rma::Agent::Lock lock(&station_->agent());
  if (const int wrong = check(target); wrong != MPI_SUCCESS) return wrong;
  if (origin.count < 0) return MPI_ERR_COUNT;
  uint64_t bytes, there;
  if (plain_bytes(origin.type, origin.count, &bytes) &&
      plain_bytes(target.type, target.count, &there) && bytes == there &&
      window_->put_few(target.rank, target.displacement, origin.address, bytes))
    return MPI_SUCCESS;
  Runs from, to;
  if (!runs_of(origin.type, origin.count, rma::Element::bytes, &from) ||
      !runs_of(target.type, target.count, rma::Element::bytes, &to))
    return MPI_ERR_TYPE;
  if (from.bytes > to.bytes) return MPI_ERR_TYPE;
  if (from.bytes > most_bytes) return MPI_ERR_COUNT;
  shorten(&to, from.bytes);
  std::vector<std::byte> storage;
  std::vector<rma::Piece> one;
  Transfer transfer{.kind = Kind::put};
  set_target(&transfer, target, to, &one);
  transfer.data = packed(origin.address, from, &storage);
  issue(lock, transfer);
  return MPI_SUCCESS;
}

int EngineWindow::get_in_full(void* address, MPI_Count count, MPI_Datatype type,
                              const Target& target) {
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const rma::Agent::Lock lock(&station_->agent());
  if (const int wrong = check(target); wrong != MPI_SUCCESS) return wrong;
  if (count < 0) return MPI_ERR_COUNT;
  Runs to, from;
  if (!runs_of(type, count, rma::Element::bytes, &to) ||
      !runs_of(target.type, target.count, rma::Element::bytes, &from))
    return MPI_ERR_TYPE;
  if (from.bytes > to.bytes) return MPI_ERR_TYPE;
  if (from.bytes > most_bytes) return MPI_ERR_COUNT;
  shorten(&to, from.bytes);
  std::vector<rma::Piece> one;
  Transfer transfer{.kind = Kind::get};
  set_target(&transfer, target, from, &one);
  if (from.bytes > 0) set_result(&transfer, address, to);
  issue(lock, transfer);
  return MPI_SUCCESS;
}

// The size of the predefined type that `type` is made of; 0 if there are several.
static uint64_t bytes_of_element(MPI_Datatype type, bool named) {
  int size = 0;
  const MPI_Datatype base = named ? type : base_type(type);
  const bool known = base != MPI_DATATYPE_NULL && next.Type_size(base, &size) == MPI_SUCCESS;
  return known ? static_cast<uint64_t>(size) : 0;
}

int EngineWindow::accumulate_in_full(const OriginBuffer& origin, const ResultBuffer* result,
                                     const Target& target, MPI_Op op) {
  if (target.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const bool fetches = result != nullptr;
  const rma::Agent::Lock lock(&station_->agent());
  if (const int wrong = check(target); wrong != MPI_SUCCESS) return wrong;
  if (compute_plainly(lock, origin, result, target, op)) return MPI_SUCCESS;
  const std::optional<rma::Operation> operation = operation_of(op);
  if (!operation) return MPI_ERR_OP;
  const bool sends = *operation != rma::Operation::no_op;
  if (!sends && !fetches) return MPI_SUCCESS;
  if ((sends && origin.count < 0) || (fetches && result->count < 0)) return MPI_ERR_COUNT;
  const bool computes = sends && *operation != rma::Operation::replace;
  const bool named = is_named(target.type);
  rma::Element element = rma::Element::bytes;
  if (computes || named) {
    const rma::Element there = element_of(named ? target.type : base_type(target.type));
    if (named) know_element(target.type, there);
    if (computes) element = there;
  }
  // With no elements there is nothing to compute.
  if (!rma::has_meaning(*operation, element)) return target.count > 0 ? MPI_ERR_OP : MPI_SUCCESS;
  Runs from, to, results;
  const bool readable = runs_of(target.type, target.count, element, &to) &&
                        (!sends || runs_of(origin.type, origin.count, element, &from)) &&
                        (!fetches || runs_of(result->type, result->count, element, &results));
  if (!readable) return MPI_ERR_TYPE;
  const uint64_t bytes = sends ? from.bytes : to.bytes;
  if (bytes > to.bytes || (fetches && bytes > results.bytes)) return MPI_ERR_TYPE;
  if (bytes > most_bytes) return MPI_ERR_COUNT;
  shorten(&to, bytes);
  shorten(&results, bytes);
  std::vector<std::byte> storage;
  std::vector<rma::Piece> one;
  Transfer transfer{.kind = fetches ? Kind::fetch : Kind::accumulate};
  set_target(&transfer, target, to, &one);
  transfer.element = element;
  transfer.operation = *operation;
  // A single run has no gaps, and messages are cut into lengths that are multiples of any element
  // of 2^n bytes.
  if (element == rma::Element::bytes && !to.one_run())
    transfer.grain = bytes_of_element(target.type, named);
  if (sends) transfer.data = packed(origin.address, from, &storage);
  if (fetches && to.bytes > 0) set_result(&transfer, result->address, results);
  issue(lock, transfer);
  return MPI_SUCCESS;
}

int EngineWindow::fetch_and_op(const void* origin, void* result, MPI_Datatype type, int rank,
                               MPI_Aint displacement, MPI_Op op) {
  if (compute_at_once({origin, 1, type}, result, {rank, displacement, 1, type}, op))
    return MPI_SUCCESS;
  if (rank != MPI_PROC_NULL && type != MPI_DATATYPE_NULL && known_elements.find(type) == nullptr &&
      !is_named(type))
    return MPI_ERR_TYPE;
  const ResultBuffer to{result, 1, type};
  return accumulate_in_full({origin, 1, type}, &to, {rank, displacement, 1, type}, op);
}

int EngineWindow::compare_and_swap(const void* origin, const void* compare, void* result,
                                   MPI_Datatype type, int rank, MPI_Aint displacement) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const rma::Element* const element = known_elements.find(type);
  uint64_t bytes;
  if (std::byte* const at = at_once(type, 1, {rank, displacement, 1, type}, &bytes);
      at != nullptr && element != nullptr && rma::has_meaning(rma::Operation::bit_and, *element)) {
    if (bytes == sizeof(uint64_t) && !context.threaded) recent_operations.swapped = type;
    rma::Mutex& elements = window_->near(rank)->commons->elements;
    if (elements.lock_intact(process_)) {
      // The result may be written to where the compared value is.
      const bool swaps = std::memcmp(at, compare, bytes) == 0;
      copy(result, at, bytes);
      if (swaps) copy(at, origin, bytes);
      elements.unlock();
      return MPI_SUCCESS;
    }
  }
  const rma::Agent::Lock lock(&station_->agent());
  if (const int wrong = check({rank, displacement, 1, type}); wrong != MPI_SUCCESS) return wrong;
  Runs runs;
  // allowed types: integers, logicals and bytes
  const bool named = element != nullptr || is_named(type);
  const rma::Element its = element != nullptr ? *element : element_of(type);
  if (named && element == nullptr) know_element(type, its);
  const bool whole = named && rma::has_meaning(rma::Operation::bit_and, its);
  if (!whole || !runs_of(type, 1, rma::Element::bytes, &runs) || !runs.one_run() || runs.bytes > 16)
    return MPI_ERR_TYPE;
  std::byte both[32];
  std::memcpy(both, origin, runs.bytes);
  std::memcpy(both + runs.bytes, compare, runs.bytes);
  issue(lock, {.kind = Kind::compare_and_swap,
               .target = rank,
               .displacement = displacement,
               .length = runs.bytes,
               .data = both,
               .result = static_cast<std::byte*>(result)});
  return MPI_SUCCESS;
}

// If the operation is complete, as all are that do not fetch, the request is the host's, of a get
// from MPI_PROC_NULL on the handle (handles.h keeps an epoch open for that). A fetch is sent at
// once if no other one is in flight; otherwise together with those that follow it, when one of them
// is waited for.
int EngineWindow::make_request(int rc, int rank, bool fetches, MPI_Request* request) {
  if (rc != MPI_SUCCESS) return rc;
  Status status = Status::ok;
  if (valid_rank(rank) && !open_as(rank, Open::active) && !open_as(rank, Open::passive)) {
    Mark mark = 0;
    bool complete = false;
    {
      const rma::Agent::Lock lock(&station_->agent());
      mark = window_->flush_local(rank);
      if (engine_fetches().idle()) station_->agent().send(lock);
      complete = !fetches || window_->reached(rank, mark);
      if (complete) status = window_->take_error(rank);
    }
    if (!complete) return engine_fetches().begin(*this, window_, rank, mark, request);
  }
  if (status != Status::ok) return settled(status);
  return below_engine().Rget(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, handle_, request);
}

// Afterwards others may be told that what this rank has done is complete.
void EngineWindow::await_transfers(const rma::Agent::Lock& lock) {
  if (!window_->transferred()) station_->agent().wait(lock, [&] { return window_->transferred(); });
}

// Active target

// A wait has ended because a member is gone. The program has its buffers back: what others send for
// them must not be written any more.
void EngineWindow::give_up_if_broken() {
  if (window_->broken()) station_->engine().give_up(window_, Status::lost_peer);
}

// Returns once all ranks have entered a fence, and their earlier operations are complete.
void EngineWindow::meet() {
  if (window_->all_near()) {
    if (!window_->silent() || held()) {
      const rma::Agent::Lock lock(&station_->agent());
      window_->flush_all();
      wait_until(lock, [&] { return window_->all_reached(); });
      give_up_if_broken();
    }
    window_->fence_enter();
    return wait_until(&window_->bell(), [&] { return window_->fence_met(); });
  }
  const rma::Agent::Lock lock(&station_->agent());
  await_transfers(lock);
  window_->fence_enter();
  wait_until(
      lock, [&] { return window_->fence_met() && window_->all_landed(); }, Step::fence);
  give_up_if_broken();
}

int EngineWindow::fence(int assert) {
  constexpr int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
  if ((assert & ~known) != 0) return MPI_ERR_ASSERT;
  if (all_locked_ || !no_locks() || starting_ || exposing_) return MPI_ERR_RMA_SYNC;
  host_turns.pass();
  meet();
  // Memory that is accessed without involving its owner.
  if (const uint64_t fence = window_->fence_to_be_over(); fence > 0) {
    for (const rma::Near& near : window_->nears()) {
      if (near.commons == nullptr) continue;
      wait_until(&near.commons->over, [&] { return rma::Window::fence_over(near, fence); });
    }
  }
  if ((MPI_MODE_NOSUCCEED & assert) == 0) {
    fenced_ = true;
  } else if (fenced_) {
    end_fences();
  }
  if (window_->silent() && !window_->broken()) return MPI_SUCCESS;
  const rma::Agent::Lock lock(&station_->agent());
  return settled(window_->take_error());
}

// The host is not asked about MPI_GROUP_NULL, because it would raise the error on a communicator.
bool EngineWindow::ranks_of(MPI_Group group, std::vector<int>* ranks) {
  int size = 0;
  if (group == MPI_GROUP_NULL || next.Group_size(group, &size) != MPI_SUCCESS) return false;
  while (counting_.size() < static_cast<size_t>(size))
    counting_.push_back(static_cast<int>(counting_.size()));
  ranks->resize(static_cast<size_t>(size));
  if (size > 0 && next.Group_translate_ranks(group, size, counting_.data(), group_,
                                             ranks->data()) != MPI_SUCCESS)
    return false;
  return std::ranges::all_of(*ranks, [&](int rank) { return valid_rank(rank); });
}

// Locks the epochs. No lock is needed if they consist of shared words only and there is one thread.
std::optional<rma::Agent::Lock> EngineWindow::lock_epochs() const {
  if (window_->all_near() && window_->silent() && !window_->broken() && !context.threaded &&
      !held())
    return std::nullopt;
  return std::optional<rma::Agent::Lock>(std::in_place, &station_->agent());
}

int EngineWindow::start(MPI_Group group, int assert) {
  std::vector<int> ranks;
  {
    const auto lock = lock_epochs();
    if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
    if (starting_ || all_locked_ || !no_locks()) return MPI_ERR_RMA_SYNC;
    ranks = std::move(spare_);
    if (!ranks_of(group, &ranks)) return MPI_ERR_GROUP;
    if ((MPI_MODE_NOCHECK & assert) == 0 && !window_->all_near() && !window_->started(ranks))
      wait_until(
          *lock, [&] { return window_->started(ranks); }, Step::start);
  }
  if ((MPI_MODE_NOCHECK & assert) == 0 && window_->all_near())
    wait_until(&window_->bell(), [&] { return window_->started(ranks); });
  const auto lock = lock_epochs();
  starting_ = true;
  if (fenced_) end_fences();
  spare_ = std::exchange(started_, std::move(ranks));
  return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
}

int EngineWindow::complete() {
  host_turns.pass();
  const auto lock = lock_epochs();
  if (!starting_) return MPI_ERR_RMA_SYNC;
  // With shared words, nothing tells a target how much is in flight.
  if (lock && window_->all_near()) {
    window_->flush_all();
    station_->agent().wait(*lock, [&] { return window_->all_reached(); });
  }
  if (lock) await_transfers(*lock);
  window_->complete(started_);
  if (lock) {
    wait_until(
        *lock, [&] { return window_->all_landed(); }, Step::complete);
    give_up_if_broken();
  }
  starting_ = false;
  for (const int rank : started_) close(rank);
  started_.clear();
  return lock ? settled(window_->take_error()) : MPI_SUCCESS;
}

int EngineWindow::post(MPI_Group group, int assert) {
  constexpr int known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
  const auto lock = lock_epochs();
  if ((assert & ~known) != 0) return MPI_ERR_ASSERT;
  if (exposing_) return MPI_ERR_RMA_SYNC;
  std::vector<int> ranks = std::move(spare_);
  if (!ranks_of(group, &ranks)) return MPI_ERR_GROUP;
  const bool sends = (MPI_MODE_NOCHECK & assert) == 0 && window_->post(ranks);
  if (lock && sends) station_->agent().send(*lock, Step::post);
  exposing_ = true;
  if (fenced_) end_fences();
  exposed_ = ranks.size();
  spare_ = std::move(ranks);
  return MPI_SUCCESS;
}

int EngineWindow::wait() {
  host_turns.pass();
  if (!exposing_) return MPI_ERR_RMA_SYNC;
  const auto completed = [&] { return window_->completed_by(exposed_); };
  if (window_->all_near()) wait_until(&window_->bell(), completed);
  const auto lock = lock_epochs();
  if (!window_->all_near()) wait_until(*lock, completed, Step::wait);
  if (lock) station_->agent().send(*lock, Step::wait);
  exposing_ = false;
  return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
}

int EngineWindow::test(int* flag) {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  *flag = 0;
  if (!exposing_) return MPI_ERR_RMA_SYNC;
  station_->agent().poll(lock);
  if (!window_->completed_by(exposed_))
    return window_->broken() ? settled(Status::lost_peer) : MPI_SUCCESS;
  *flag = 1;
  exposing_ = false;
  return MPI_SUCCESS;
}

// Passive target

// With several threads, epochs are guarded by the agent's lock, so none is opened at once.
bool EngineWindow::lock_near(int type, rma::Near* near, int assert) {
  if ((type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) || near == nullptr ||
      context.threaded || assert != 0 || all_locked_ || starting_ || held() ||
      near->reaches(rma::Near::Reach::messages) || near->in_short || locks_.contains(near->rank))
    return false;
  const auto as = type == MPI_LOCK_SHARED ? rma::LockType::shared : rma::LockType::exclusive;
  if (!near->take_lock(as)) return false;
  if (fenced_) end_fences();
  begin_short(near);
  return true;
}

// If several threads lock targets, each waits for its lock. Otherwise a flush of all by a thread
// that holds one would wait for another's, and might never end.
int EngineWindow::lock_in_full(int type, int rank, int assert) {
  bool waits = false;
  if (const int wrong = begin_lock(type, rank, assert, &waits); wrong != MPI_SUCCESS) return wrong;
  return waits ? await_lock(rank) : MPI_SUCCESS;
}

// If it is the rank's own, the program may then access its memory by loads and stores.
int EngineWindow::await_lock(int rank) {
  rma::Agent::Lock lock(&station_->agent());
  if (several_threads_lock()) await_locks_that_are_due(&lock);
  const Mark mark = window_->lock_now(rank);
  station_->agent().send(lock);
  await_granted(&lock, rank, mark);
  if (window_->lock_is_awaited(rank)) window_->await_lock(rank, false);
  return settled(window_->take_error(rank));
}

// The first thread has not waited for its lock.
void EngineWindow::await_locks_that_are_due(rma::Agent::Lock* lock) {
  for (const int rank : std::vector(locks_.begin(), locks_.end())) {
    if (rank == MPI_PROC_NULL || !window_->lock_is_due(rank)) continue;
    const Mark mark = window_->flush(rank);
    await_granted(lock, rank, mark);
  }
}

// Waits also if a member is gone: the others still keep each other out.
void EngineWindow::await_granted(rma::Agent::Lock* lock, int rank, Mark mark) {
  await_turn(lock, rank);
  station_->agent().wait(
      *lock, [&] { return window_->reached(rank, mark); }, Step::other, true);
}

int EngineWindow::begin_lock(int type, int rank, int assert, bool* waits) {
  const rma::Agent::Lock lock(&station_->agent());
  if (type != MPI_LOCK_SHARED && type != MPI_LOCK_EXCLUSIVE) return MPI_ERR_LOCKTYPE;
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
  if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
  if (all_locked_ || starting_ || locked_alone(rank)) return MPI_ERR_RMA_SYNC;
  if (fenced_) end_fences();
  if (no_locks()) locker_ = std::this_thread::get_id();
  if (several_threads_lock()) locker_ = {};
  locks_.insert(rank);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  const bool no_check = (MPI_MODE_NOCHECK & assert) != 0;
  window_->lock(rank, type == MPI_LOCK_EXCLUSIVE ? LockType::exclusive : LockType::shared,
                no_check);
  *waits = !no_check && (rank == window_->rank() || several_threads_lock());
  if (*waits) window_->await_lock(rank, true);
  station_->agent().send(lock);
  return MPI_SUCCESS;
}

int EngineWindow::unlock_in_full(int rank) {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (rank != MPI_PROC_NULL && !valid_rank(rank)) return MPI_ERR_RANK;
  if (rma::Near* const near = window_->near(rank); near != nullptr && near->in_short) {
    near->in_short = false;
    --short_locks_;
  } else if (locks_.erase(rank) == 0) {
    return MPI_ERR_RMA_SYNC;
  }
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  close(rank);
  if (!window_->transferred(rank))
    station_->agent().wait(lock, [&] { return window_->transferred(rank); });
  const Mark mark = window_->unlock(rank);
  await_turn(&lock, rank);
  station_->agent().wait(
      lock, [&] { return window_->reached(rank, mark); }, Step::unlock);
  return settled(window_->take_error(rank));
}

int EngineWindow::lock_all_in_full(int assert) {
  if (const int wrong = begin_lock_all(assert); wrong != MPI_SUCCESS) return wrong;
  return await_lock(window_->rank());
}

int EngineWindow::begin_lock_all(int assert) {
  const rma::Agent::Lock lock(&station_->agent());
  if ((assert & ~MPI_MODE_NOCHECK) != 0) return MPI_ERR_ASSERT;
  if (all_locked_ || starting_ || !no_locks()) return MPI_ERR_RMA_SYNC;
  if (fenced_) end_fences();
  all_locked_ = true;
  window_->lock_all((MPI_MODE_NOCHECK & assert) != 0);
  return MPI_SUCCESS;
}

int EngineWindow::unlock_all_in_full() {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_) return MPI_ERR_RMA_SYNC;
  all_locked_ = false;
  for (rma::Near& near : window_->nears()) near.open.store(Open::no, std::memory_order_relaxed);
  await_transfers(lock);
  window_->unlock_all();
  await_turns(&lock);
  station_->agent().wait(
      lock, [&] { return window_->all_reached(); }, Step::unlock);
  return settled(window_->take_error());
}

int EngineWindow::flush_to(int rank, Mark (rma::Window::*begin)(int)) {
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!valid_rank(rank)) return MPI_ERR_RANK;
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!passive(rank)) return MPI_ERR_RMA_SYNC;
  const Mark mark = (window_->*begin)(rank);
  if (mark == Mark()) {
    station_->agent().pass(lock, Step::flush);
  } else {
    await_turn(&lock, rank);
    station_->agent().wait(
        lock, [&] { return window_->reached(rank, mark); }, Step::flush);
  }
  const Status status = window_->take_error(rank);
  recent_operations.order(context.threaded);
  if (held()) recent_operations.note_store();  // the next flush is made in full as well
  open(rank);
  return settled(status);
}

int EngineWindow::flush_all() {
  host_turns.look();
  rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_ && no_locks()) return MPI_ERR_RMA_SYNC;
  recent_operations.order(context.threaded);
  window_->flush_all();
  await_turns(&lock);
  station_->agent().wait(
      lock, [&] { return window_->all_reached(); }, Step::flush);
  return settled(window_->take_error());
}

int EngineWindow::flush_local_all() {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  if (!all_locked_ && no_locks()) return MPI_ERR_RMA_SYNC;
  station_->agent().wait(
      lock, [&] { return window_->all_landed(); }, Step::flush);
  return settled(window_->take_error());
}

// Both this thread and the agent use the lock, so each sees what the other has written.
int EngineWindow::sync() {
  host_turns.look();
  const rma::Agent::Lock lock(&station_->agent());
  station_->agent().send(lock);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

// The window itself

int EngineWindow::attach(void* base, MPI_Aint size) {
  const rma::Agent::Lock lock(&station_->agent());
  if (shape_.flavor != MPI_WIN_FLAVOR_DYNAMIC) return MPI_ERR_RMA_FLAVOR;
  if (size < 0) return MPI_ERR_SIZE;
  if (size == 0) return MPI_SUCCESS;
  return window_->exposure().memory().attach(base, static_cast<uint64_t>(size))
             ? MPI_SUCCESS
             : MPI_ERR_RMA_ATTACH;
}

int EngineWindow::detach(const void* base) {
  const rma::Agent::Lock lock(&station_->agent());
  if (shape_.flavor != MPI_WIN_FLAVOR_DYNAMIC) return MPI_ERR_RMA_FLAVOR;
  window_->exposure().memory().detach(base);  // zero-byte attachments are not recorded
  return MPI_SUCCESS;
}

bool EngineWindow::get_attr(int keyval, void* value, int* flag) {
  void* found = keyval == MPI_WIN_BASE            ? shape_.base
                : keyval == MPI_WIN_SIZE          ? static_cast<void*>(&shape_.size)
                : keyval == MPI_WIN_DISP_UNIT     ? static_cast<void*>(&shape_.unit)
                : keyval == MPI_WIN_CREATE_FLAVOR ? static_cast<void*>(&shape_.flavor)
                : keyval == MPI_WIN_MODEL         ? static_cast<void*>(&model_)
                                                  : nullptr;
  if (found == nullptr && keyval != MPI_WIN_BASE) return false;
  *static_cast<void**>(value) = found;
  *flag = 1;
  return true;
}

int EngineWindow::get_group(MPI_Group* group) { return next.Group_excl(group_, 0, nullptr, group); }

// A copy, because the host must not be called under the agent's lock.
Hints EngineWindow::hints() const {
  const rma::Agent::Lock lock(&station_->agent());
  return hints_;
}

int EngineWindow::set_info(MPI_Info info) {
  Hints now = hints();
  now.take(info);
  const int rc = below_engine().Win_set_info(handle_, info);
  if (rc != MPI_SUCCESS) return rc;
  const rma::Agent::Lock lock(&station_->agent());
  hints_ = std::move(now);
  return MPI_SUCCESS;
}

int EngineWindow::get_info(MPI_Info* info) {
  const int rc = below_engine().Win_get_info(handle_, info);
  if (rc != MPI_SUCCESS) return rc;
  // MPICH's key, true of the handle, whose memory it has allocated.
  if (shape_.flavor != MPI_WIN_FLAVOR_ALLOCATE && info_value(*info, "alloc_shm"))
    next.Info_set(*info, const_cast<char*>("alloc_shm"), const_cast<char*>("false"));
  return hints().write_to(*info);
}

// Reports errors of what followed the last fence: nobody else will ask for them.
void EngineWindow::tell_last_error() {
  Status status = Status::ok;
  {
    const rma::Agent::Lock lock(&station_->agent());
    if (!window_->broken()) status = window_->take_error();
  }
  report(settled(status));
}

int EngineWindow::close() {
  if (all_locked_ || !no_locks() || starting_ || exposing_) return MPI_ERR_RMA_SYNC;
  meet();                         // nobody uses the window any more
  engine_fetches().end(window_);  // of requests that nobody has waited for yet
  tell_last_error();
  {
    const rma::Agent::Lock lock(&station_->agent());
    station_->engine().close(window_);
  }
  return MPI_SUCCESS;
}

}  // namespace nearcache::mpi
