// The gets and writes of a live window.
#include <algorithm>

#include "live.h"

namespace model {
namespace {

// A layout of the same data for the origin: any of the shape's layouts, or one contiguous run of
// units.
struct Side {
  std::vector<Block> blocks;
  MPI_Datatype type;
  int count;
};

Side origin_side(Random& own, const Spot& spot) {
  const Shape& shape = shapes[spot.shape];
  const int64_t choice = below(own, (int64_t)shape.layouts.size() + 2);
  if (choice < (int64_t)shape.layouts.size()) {
    const Layout& layout = shape.layouts[choice];
    return {blocks_of(layout, spot.count), layout.type, spot.count};
  }
  const Layout plain = contiguous_layout(*shape.unit);
  return {blocks_of(plain, spot.count * shape.units), plain.type, spot.count * shape.units};
}

void pack(std::vector<uint8_t>& to, int64_t origin, const std::vector<Block>& blocks,
          const uint8_t* from) {
  for (const Block& block : blocks) {
    std::memcpy(&to[origin + block.offset], from, block.bytes);
    from += block.bytes;
  }
}

// Makes errors of the window return instead of being fatal, during its lifetime.
struct Forgiving {
  explicit Forgiving(MPI_Win of) : win(of) { MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN); }
  ~Forgiving() { MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL); }
  MPI_Win win;
};

std::vector<uint8_t> packed(const std::vector<uint8_t>& memory, const Spot& spot) {
  std::vector<uint8_t> all;
  for (const Block& block : blocks_of(shapes[spot.shape].layouts[spot.layout], spot.count)) {
    const uint8_t* from = &memory[spot.base + block.offset];
    all.insert(all.end(), from, from + block.bytes);
  }
  return all;
}

// Issues a call. Over the lazy MPI, the call occasionally fails once without having done anything;
// returns false if it must be issued again.
template <class Issue>
bool fails_first(Random& own, Issue issue) {
  int* failing = lazy_mpi_failing();
  if (failing == nullptr || without.failures || below(own, 20) != 0) {
    return false;
  }
  *failing = 1;
  const int code = issue();
  const bool done = code == MPI_SUCCESS;  // the cache answered it
  *failing = 0;
  return done;
}

}  // namespace

void Live::get(Random& own, const Spot& spot, bool passive) {
  const Side side = origin_side(own, spot);
  const Layout& target = shapes[spot.shape].layouts[spot.layout];
  pending.push_back({Buffer(side.blocks), spot, "get", MPI_REQUEST_NULL});
  Pending& made = pending.back();
  pack(made.buffer.expected, made.buffer.origin, side.blocks,
       packed(oracle.content[spot.target], spot).data());
  const MPI_Aint displacement = spot.base / units_of_targets[spot.target];
  const bool request = passive && !without.requests && below(own, 5) == 0;
  made.what = request ? "rget" : "get";
  const auto issue = [&] {
    return request ? MPI_Rget(made.buffer.address(), side.count, side.type, spot.target,
                              displacement, spot.count, target.type, win, &made.request)
                   : MPI_Get(made.buffer.address(), side.count, side.type, spot.target,
                             displacement, spot.count, target.type, win);
  };
  if (!fails_first(own, issue)) {
    issue();
  }
  gets_kept += oracle.read_only_common || user_writes;
  gets_joined += strcmp(mode, "transparent") == 0;
  operations++;
}

// Calls with MPI_PROC_NULL, which do nothing, or with an invalid rank, which fail. Neither may
// touch or complete anything.
void Live::odd_call(Random& own, bool passive) {
  if (without.odd_calls) {
    return;
  }
  const int wrong[] = {size, size + 3, 1 << 20};
  const int target = below(own, 2) ? MPI_PROC_NULL : wrong[below(own, 3)];
  constexpr int64_t kept = 0x7777777777777777;
  int64_t origin = kept, result = kept, compared = kept;
  MPI_Request request = MPI_REQUEST_NULL;
  const Forgiving forgiving(win);
  const int draws = !passive ? 6 : without.odd_flushes ? 10 : present == Sync::lock ? 16 : 14;
  switch (below(own, draws)) {
    case 0:
      MPI_Get(&result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
      break;
    case 1:
      MPI_Put(&origin, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win);
      break;
    case 2:
      MPI_Accumulate(&origin, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win);
      break;
    case 3:
      MPI_Get_accumulate(&origin, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, target, 0, 1,
                         MPI_INT64_T, MPI_SUM, win);
      break;
    case 4:
      MPI_Fetch_and_op(&origin, &result, MPI_INT64_T, target, 0, MPI_SUM, win);
      break;
    case 5:
      MPI_Compare_and_swap(&origin, &compared, &result, MPI_INT64_T, target, 0, win);
      break;
    case 6:
      MPI_Rget(&result, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &request);
      break;
    case 7:
      MPI_Rput(&origin, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, win, &request);
      break;
    case 8:
      MPI_Raccumulate(&origin, 1, MPI_INT64_T, target, 0, 1, MPI_INT64_T, MPI_SUM, win, &request);
      break;
    case 9:
      MPI_Rget_accumulate(&origin, 1, MPI_INT64_T, &result, 1, MPI_INT64_T, target, 0, 1,
                          MPI_INT64_T, MPI_SUM, win, &request);
      break;
    case 10:
    case 11:
      MPI_Win_flush(target, win);
      break;
    case 12:
    case 13:
      MPI_Win_flush_local(target, win);
      break;
    default:
      if (target == MPI_PROC_NULL) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
      }
      MPI_Win_unlock(target, win);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check::expect(origin == kept && result == kept,
                "seed %llu: a call to rank %d of %d changed a buffer", (unsigned long long)seed,
                target, size);
  operations++;
}

// Issues this rank's next write of the phase to `target`; -1 stands for any.
bool Live::write_next(Random& own, Plan& plan, int target, bool passive) {
  (void)passive;
  for (Write& write : plan.writes) {
    if (!write.done && write.writer == rank && write.kind != Kind::locked &&
        write.kind != Kind::guarded && (target < 0 || write.spot.target == target)) {
      write.done = true;
      issue(own, write);
      operations++;
      return true;
    }
  }
  return false;
}

// Adds to a word that only an exclusive lock protects: every rank reads what the previous one
// wrote. If the lock is on another rank than the word, a flush confirms that it is held.
void Live::take_turns() {
  for (const Write& write : current->writes) {
    const bool guarded = write.kind == Kind::guarded;
    if ((write.kind != Kind::locked && !guarded) || write.writer != rank) {
      continue;
    }
    const int target = write.spot.target, locked = guarded ? (target + 1) % size : target;
    const MPI_Aint at = write.spot.base / units_of_targets[target];
    int64_t word = 0, addend = 0;
    std::memcpy(&addend, write.payload.data(), 8);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, locked, 0, win);
    if (guarded) {
      MPI_Win_flush(locked, win);
      MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    }
    MPI_Get(&word, 8, MPI_BYTE, target, at, 8, MPI_BYTE, win);
    MPI_Win_flush(target, win);
    word = (int64_t)((uint64_t)word + (uint64_t)addend);
    if (guarded) {
      usleep(50);  // in which another rank may come in that has no lock
    }
    MPI_Put(&word, 8, MPI_BYTE, target, at, 8, MPI_BYTE, win);
    if (guarded) {
      MPI_Win_unlock(target, win);
    }
    MPI_Win_unlock(locked, win);
    operations += 3;
  }
}

void Live::issue(Random& own, const Write& write) {
  const Spot& spot = write.spot;
  const MPI_Aint at = spot.base / units_of_targets[spot.target];
  if (write.kind == Kind::sum) {
    writing.push_back({&write, write.payload, MPI_REQUEST_NULL});
    MPI_Accumulate(writing.back().origin.data(), 1, MPI_INT64_T, spot.target, at, 1, MPI_INT64_T,
                   MPI_SUM, win);
    return;
  }
  const Shape& shape = shapes[spot.shape];
  const Layout& target = shape.layouts[spot.layout];
  const Side side = origin_side(own, spot);
  Buffer buffer(side.blocks);
  pack(buffer.actual, buffer.origin, side.blocks, write.payload.data());
  writing.push_back({&write, std::move(buffer.actual), MPI_REQUEST_NULL});
  void* from = writing.back().origin.data() + buffer.origin;
  MPI_Request* request = &writing.back().request;
  switch (write.kind) {
    case Kind::put:
      MPI_Put(from, side.count, side.type, spot.target, at, spot.count, target.type, win);
      break;
    case Kind::rput:
      MPI_Rput(from, side.count, side.type, spot.target, at, spot.count, target.type, win, request);
      break;
    case Kind::accumulate:
      MPI_Accumulate(from, side.count, side.type, spot.target, at, spot.count, target.type,
                     MPI_REPLACE, win);
      break;
    case Kind::raccumulate:
      MPI_Raccumulate(from, side.count, side.type, spot.target, at, spot.count, target.type,
                      MPI_REPLACE, win, request);
      break;
    default: {
      // The result is the previous value.
      const Layout plain = contiguous_layout(*shape.unit);
      const int count = spot.count * shape.units;
      pending.push_back(
          {Buffer(blocks_of(plain, count)), spot, "get_accumulate", MPI_REQUEST_NULL});
      Pending& made = pending.back();
      pack(made.buffer.expected, made.buffer.origin, blocks_of(plain, count),
           packed(oracle.before[spot.target], spot).data());
      MPI_Get_accumulate(from, side.count, side.type, made.buffer.address(), count, plain.type,
                         spot.target, at, spot.count, target.type, MPI_REPLACE, win);
    }
  }
}

// Checks whether gets are complete without releasing their requests. The buffer of a completed get
// belongs to the program again, which overwrites it.
void Live::look_at_requests(Random& own) {
  std::deque<Pending> later;
  for (Pending& get : pending) {
    if (get.request == MPI_REQUEST_NULL || below(own, 2)) {
      later.push_back(std::move(get));
      continue;
    }
    for (int done = 0; !done;) {
      MPI_Request_get_status(get.request, &done, MPI_STATUS_IGNORE);
    }
    check::expect(get.buffer.actual == get.buffer.expected,
                  "seed %llu: rget from rank %d byte %lld in mode %s is wrong when its request is "
                  "said to be done",
                  (unsigned long long)seed, get.spot.target, (long long)get.spot.base, mode);
    std::fill(get.buffer.actual.begin(), get.buffer.actual.end(), 0xEE);
    looked_at.push_back(std::move(get));
  }
  pending = std::move(later);
}

// Waits for the requests of all gets by one of the available calls. Over the lazy MPI one of these
// may fail: its requests are then gone, and the contents of their buffers undefined.
void Live::wait_requests(Random& own) {
  std::vector<MPI_Request> requests;
  std::vector<Pending> asked;
  std::deque<Pending> later;
  for (Pending& get : pending) {
    if (get.request == MPI_REQUEST_NULL) {
      later.push_back(std::move(get));
    } else {
      requests.push_back(get.request);
      asked.push_back(std::move(get));
    }
  }
  pending = std::move(later);
  const int count = (int)requests.size(), how = (int)below(own, 6);
  std::vector<int> indices(count + 1);
  int left = count, many = 0, index = 0;
  std::vector<int> codes(count, MPI_SUCCESS);
  int* failing = how < 3 && !without.failures && below(own, 2) ? lazy_mpi_failing() : nullptr;
  if (failing != nullptr) {
    *failing = 1;
  }
  switch (how) {
    case 0:
      codes.assign(count, MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
      break;
    case 1:
      for (int i = 0; i < count; i++) {
        codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
      break;
    case 2:
      for (int i = 0; i < count; i++) {
        for (int done = 0; !done;) {
          codes[i] = MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        }
      }
      break;
    case 3:
      for (; left > 0; left--) {
        MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
      }
      break;
    case 4:
      for (; left > 0; left -= many) {
        MPI_Waitsome(count, requests.data(), &many, indices.data(), MPI_STATUSES_IGNORE);
      }
      break;
    default:
      for (; left > 0; left -= many) {
        MPI_Testsome(count, requests.data(), &many, indices.data(), MPI_STATUSES_IGNORE);
      }
  }
  if (failing != nullptr) {
    *failing = 0;
  }
  for (int i = 0; i < count; i++) {
    check::expect(
        codes[i] != MPI_SUCCESS || asked[i].buffer.actual == asked[i].buffer.expected,
        "seed %llu: rget from rank %d byte %lld in mode %s is wrong after its request is done",
        (unsigned long long)seed, asked[i].spot.target, (long long)asked[i].spot.base, mode);
  }
}

}  // namespace model
