// SPDX-License-Identifier: BSD-3-Clause

// Puts, gets, accumulates and their requests on a window of the engine: at once where the target's
// memory is in reach, else as a transfer.
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "mpi/process/next.h"
#include "mpi/rma/engine_window.h"
#include "mpi/rma/fetches.h"
#include "mpi/rma/layer.h"
#include "mpi/types/type_map.h"
#include "rma/execute.h"

namespace nearcache::mpi {
namespace {

using rma::Kind;
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
// is waited for. What is known to have failed may be an earlier operation: a put or an accumulate,
// of which nobody knows more than that it was issued, leaves that to the next synchronisation.
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
      if (complete && fetches) status = window_->take_error(rank);
    }
    if (!complete) return engine_fetches().begin(*this, window_, rank, mark, request);
  }
  if (status != Status::ok) return settled(status);
  return below_engine().Rget(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE, handle_, request);
}

}  // namespace nearcache::mpi
