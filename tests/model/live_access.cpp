// The gets and writes of a live window.
#include <algorithm>

#include "live.h"

namespace model {
namespace {

// A layout of the same data for the origin: any of the shape's, or one contiguous run of units.
struct Side {
  std::vector<Block> blocks;
  MPI_Datatype type;
  int count;
};

Side origin_side(Random &own, const Spot &spot) {
  const Shape &shape = shapes[spot.shape];
  const int64_t choice = below(own, (int64_t)shape.layouts.size() + 2);
  if (choice < (int64_t)shape.layouts.size()) {
    const Layout &layout = shape.layouts[choice];
    return {blocks_of(layout, spot.count), layout.type, spot.count};
  }
  const Layout plain = contiguous_layout(*shape.unit);
  return {blocks_of(plain, spot.count * shape.units), plain.type, spot.count * shape.units};
}

void pack(std::vector<uint8_t> &to, int64_t origin, const std::vector<Block> &blocks, const uint8_t *from) {
  for (const Block &block : blocks) {
    std::memcpy(&to[origin + block.offset], from, block.bytes);
    from += block.bytes;
  }
}

std::vector<uint8_t> packed(const std::vector<uint8_t> &memory, const Spot &spot) {
  std::vector<uint8_t> all;
  for (const Block &block : blocks_of(shapes[spot.shape].layouts[spot.layout], spot.count)) {
    const uint8_t *from = &memory[spot.base + block.offset];
    all.insert(all.end(), from, from + block.bytes);
  }
  return all;
}

}  // namespace

void Live::get(Random &own, const Spot &spot, bool passive) {
  const Side side = origin_side(own, spot);
  const Layout &target = shapes[spot.shape].layouts[spot.layout];
  pending.push_back({Buffer(side.blocks), spot, "get", MPI_REQUEST_NULL});
  Pending &made = pending.back();
  pack(made.buffer.expected, made.buffer.origin, side.blocks, packed(oracle.content[spot.target], spot).data());
  const MPI_Aint displacement = spot.base / units_of_targets[spot.target];
  if (passive && !without_requests && below(own, 5) == 0) {
    made.what = "rget";
    MPI_Rget(made.buffer.address(), side.count, side.type, spot.target, displacement, spot.count, target.type, win,
             &made.request);
  } else {
    MPI_Get(made.buffer.address(), side.count, side.type, spot.target, displacement, spot.count, target.type, win);
  }
  operations++;
}

// Gets that must do nothing.
void Live::odd_get(Random &own) {
  Spot spot{below(own, 2) ? MPI_PROC_NULL : (int)below(own, size), 0, 0, 0, 0};
  if (spot.target == MPI_PROC_NULL) {
    uint8_t untouched = 0x77;
    MPI_Get(&untouched, 1, MPI_BYTE, MPI_PROC_NULL, 0, 1, MPI_BYTE, win);
    EXPECT_EQ(untouched, 0x77);
  }
  operations++;
}

// This rank's next write of the phase to `target` (any: -1).
bool Live::write_next(Random &own, Plan &plan, int target, bool passive) {
  (void)passive;
  for (Write &write : plan.writes) {
    if (!write.done && write.writer == rank && (target < 0 || write.spot.target == target)) {
      write.done = true;
      issue(own, write);
      operations++;
      return true;
    }
  }
  return false;
}

void Live::issue(Random &own, const Write &write) {
  const Spot &spot = write.spot;
  const MPI_Aint at = spot.base / units_of_targets[spot.target];
  if (write.kind == Kind::sum) {
    writing.push_back({&write, write.payload, MPI_REQUEST_NULL});
    MPI_Accumulate(writing.back().origin.data(), 1, MPI_INT64_T, spot.target, at, 1, MPI_INT64_T, MPI_SUM, win);
    return;
  }
  const Shape &shape = shapes[spot.shape];
  const Layout &target = shape.layouts[spot.layout];
  const Side side = origin_side(own, spot);
  Buffer buffer(side.blocks);
  pack(buffer.actual, buffer.origin, side.blocks, write.payload.data());
  writing.push_back({&write, std::move(buffer.actual), MPI_REQUEST_NULL});
  void *from = writing.back().origin.data() + buffer.origin;
  MPI_Request *request = &writing.back().request;
  switch (write.kind) {
    case Kind::put:
      MPI_Put(from, side.count, side.type, spot.target, at, spot.count, target.type, win);
      break;
    case Kind::rput:
      MPI_Rput(from, side.count, side.type, spot.target, at, spot.count, target.type, win, request);
      break;
    case Kind::accumulate:
      MPI_Accumulate(from, side.count, side.type, spot.target, at, spot.count, target.type, MPI_REPLACE, win);
      break;
    case Kind::raccumulate:
      MPI_Raccumulate(from, side.count, side.type, spot.target, at, spot.count, target.type, MPI_REPLACE, win, request);
      break;
    default: {
      // Its result is what was there before.
      const Layout plain = contiguous_layout(*shape.unit);
      const int count = spot.count * shape.units;
      pending.push_back({Buffer(blocks_of(plain, count)), spot, "get_accumulate", MPI_REQUEST_NULL});
      Pending &made = pending.back();
      pack(made.buffer.expected, made.buffer.origin, blocks_of(plain, count), packed(oracle.before[spot.target], spot).data());
      MPI_Get_accumulate(from, side.count, side.type, made.buffer.address(), count, plain.type, spot.target, at,
                         spot.count, target.type, MPI_REPLACE, win);
    }
  }
}

// Waits for all requests of gets by one of the calls there are.
void Live::wait_requests(Random &own) {
  std::vector<MPI_Request> requests;
  for (Pending &get : pending) {
    if (get.request != MPI_REQUEST_NULL) {
      requests.push_back(get.request);
    }
  }
  const int count = (int)requests.size();
  std::vector<int> indices(count + 1);
  int left = count, many = 0, index = 0;
  switch (below(own, 5)) {
    case 0: MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE); break;
    case 1:
      for (; left > 0; left--) {
        MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
      }
      break;
    case 2:
      for (; left > 0; left -= many) {
        MPI_Waitsome(count, requests.data(), &many, indices.data(), MPI_STATUSES_IGNORE);
      }
      break;
    case 3:
      for (; left > 0; left -= many) {
        MPI_Testsome(count, requests.data(), &many, indices.data(), MPI_STATUSES_IGNORE);
      }
      break;
    default:
      for (MPI_Request &request : requests) {
        for (int done = 0; !done;) {
          MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
      }
  }
  std::deque<Pending> later;
  for (Pending &get : pending) {
    if (get.request == MPI_REQUEST_NULL) {
      later.push_back(std::move(get));
    } else if (get.buffer.actual != get.buffer.expected) {
      check::expect(false, "seed %llu: rget from rank %d byte %lld in mode %s is wrong after its request is done",
                    (unsigned long long)seed, get.spot.target, (long long)get.spot.base, mode);
    }
  }
  pending = std::move(later);
}

}  // namespace model
