#include "oracle.h"

#include <algorithm>
#include <cstring>

namespace model {
namespace {

std::vector<uint8_t> random_bytes(Random& random, int64_t many) {
  std::vector<uint8_t> made(many);
  for (uint8_t& byte : made) {
    byte = (uint8_t)random();
  }
  return made;
}

int64_t total(const std::vector<Block>& blocks) {
  int64_t sum = 0;
  for (const Block& block : blocks) {
    sum += block.bytes;
  }
  return sum;
}

}  // namespace

std::vector<Shape> random_shapes(Random& random, int many) {
  std::vector<Shape> shapes;
  for (int i = 0; i < many; i++) {
    Shape shape;
    shape.unit = &units()[below(random, (int64_t)units().size())];
    shape.units = below(random, 3) ? 1 + (int)below(random, 24) : 1;
    shape.accumulable = shape.unit->blocks.size() == 1 && shape.unit->type != MPI_BYTE;
    for (int j = 0; j < 3; j++) {
      // Predefined types as well: partial hits need them, and they alone are cached on hosts that
      // get derived types wrong.
      shape.layouts.push_back(shape.units == 1 && j > 0
                                  ? contiguous_layout(*shape.unit)
                                  : random_layout(random, *shape.unit, shape.units));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

void free_shapes(std::vector<Shape>& shapes) {
  for (Shape& shape : shapes) {
    for (Layout& layout : shape.layouts) {
      free_layout(layout);
    }
  }
}

// In mode always, the lower half is never written, and the upper half is divided into one private
// part per reader.
bool Oracle::private_to(int rank, int target, int64_t from, int64_t to) const {
  const int64_t half = bytes[target] / 2, part = (bytes[target] - half) / size;
  return from >= half + rank * part && to <= half + (rank + 1) * part;
}

void Oracle::make_spots(Random& random, const std::vector<Shape>& shapes, int many) {
  for (int attempt = 0; attempt < many * 20 && (int)spots.size() < many; attempt++) {
    Spot spot;
    // Many spots begin where another one does, or a few words later.
    const bool near = !spots.empty() && below(random, 2) == 0;
    spot.target = near ? spots.back().target : (int)below(random, size);
    spot.shape = (int)below(random, (int64_t)shapes.size());
    spot.layout = (int)below(random, (int64_t)shapes[spot.shape].layouts.size());
    spot.count =
        below(random, 3)
            ? 1
            : 1 + (int)below(random, shapes[spot.shape].layouts[spot.layout].predefined ? 40 : 4);
    int64_t least = 0, most = 0;
    for (const Block& block : blocks_of(shapes[spot.shape].layouts[spot.layout], spot.count)) {
      least = std::min(least, block.offset);
      most = std::max(most, block.offset + block.bytes);
    }
    const int64_t room = bytes[spot.target] - (most - least);
    if (room < 0) {
      continue;
    }
    // Multiples of 8 suit every displacement unit and basic type.
    const int64_t base =
        near ? spots.back().base + 8 * below(random, 6) : -least + below(random, room + 1);
    spot.base = base / 8 * 8;
    if (spot.base + least >= 0 && spot.base + most <= bytes[spot.target]) {
      spots.push_back(spot);
    }
  }
}

bool Oracle::may_read(int reader, const Spot& spot, const std::vector<Shape>& shapes,
                      const std::vector<std::vector<uint8_t>>& ready) const {
  for (const Block& block : blocks_of(shapes[spot.shape].layouts[spot.layout], spot.count)) {
    const int64_t from = spot.base + block.offset, to = from + block.bytes;
    if (read_only_common && to > bytes[spot.target] / 2 &&
        !private_to(reader, spot.target, from, to)) {
      return false;
    }
    for (int64_t i = from; i < to; i++) {
      const uint8_t who = writer[spot.target][i];
      if (who != nobody && !(who == reader + 1 && ready[spot.target][i])) {
        return false;
      }
    }
  }
  return true;
}

bool Oracle::may_write(int rank, int target, const std::vector<Block>& blocks, int64_t base) const {
  for (const Block& block : blocks) {
    const int64_t from = base + block.offset, to = from + block.bytes;
    if (read_only_common && !private_to(rank, target, from, to)) {
      return false;
    }
    for (int64_t i = from; i < to; i++) {
      if (writer[target][i] != nobody) {
        return false;
      }
    }
  }
  return true;
}

void Oracle::apply(const Write& write, const std::vector<Shape>& shapes) {
  std::vector<uint8_t>& memory = content[write.spot.target];
  const uint8_t* from = write.payload.data();
  if (write.kind == Kind::sum || write.kind == Kind::locked || write.kind == Kind::guarded) {
    int64_t value, addend;
    std::memcpy(&value, &memory[write.spot.base], 8);
    std::memcpy(&addend, from, 8);
    value = (int64_t)((uint64_t)value + (uint64_t)addend);
    std::memcpy(&memory[write.spot.base], &value, 8);
    return;
  }
  for (const Block& block :
       blocks_of(shapes[write.spot.shape].layouts[write.spot.layout], write.spot.count)) {
    std::memcpy(&memory[write.spot.base + block.offset], from, block.bytes);
    from += block.bytes;
  }
}

void Oracle::add_write(Random& random, const std::vector<Shape>& shapes, Plan& plan) {
  Write write{};
  write.writer = (int)below(random, size);
  write.spot = spots[below(random, (int64_t)spots.size())];
  if (steps && write.writer == write.spot.target) {
    write.writer = (write.writer + 1) % size;
  }
  const Shape& shape = shapes[write.spot.shape];
  const Kind kinds[] = {Kind::put,        Kind::put,         Kind::rput,
                        Kind::accumulate, Kind::raccumulate, Kind::get_accumulate};
  write.kind = kinds[below(random, shape.accumulable && !derived_puts_only ? 6 : 3)];
  const bool passive = plan.sync != Sync::fence && plan.sync != Sync::pscw;
  if (!passive && (write.kind == Kind::rput || write.kind == Kind::raccumulate)) {
    write.kind = Kind::put;  // requests are for passive target epochs only
  }
  const auto blocks = blocks_of(shape.layouts[write.spot.layout], write.spot.count);
  if (!may_write(write.writer, write.spot.target, blocks, write.spot.base)) {
    return;
  }
  for (const Block& block : blocks) {
    std::memset(&writer[write.spot.target][write.spot.base + block.offset], write.writer + 1,
                block.bytes);
  }
  write.payload = random_bytes(random, total(blocks));
  if (shape.unit->type == MPI_DOUBLE) {
    // Uses numbers, because an accumulate may change the bits of a signalling NaN.
    for (size_t i = 0; i < write.payload.size(); i += 8) {
      const double number = (double)below(random, 1000000);
      std::memcpy(&write.payload[i], &number, 8);
    }
  }
  apply(write, shapes);
  plan.writes.push_back(std::move(write));
}

// A word to which all ranks add in the same phase, in any order: by accumulates, or in turns as
// holders of an exclusive lock on the word's rank or on another rank that stands for it.
void Oracle::add_sum(Random& random, Plan& plan, Kind kind) {
  const int target = (int)below(random, size);
  if (bytes[target] < 16 || read_only_common) {
    return;
  }
  const int64_t at = below(random, bytes[target] / 8) * 8;
  if (!may_write(0, target, {{0, 8}}, at)) {
    return;
  }
  std::memset(&writer[target][at], everybody, 8);
  for (int rank = 0; rank < size; rank++) {
    Write write{kind, rank, {target, 0, 0, 1, at}, random_bytes(random, 8), false};
    apply(write, {});
    plan.writes.push_back(std::move(write));
  }
}

void Oracle::add_store(Random& random, Plan& plan) {
  const int owner = (int)below(random, size);
  if (bytes[owner] == 0 || read_only_common) {
    return;
  }
  Store store{owner, below(random, bytes[owner]), {}};
  store.bytes =
      random_bytes(random, 1 + below(random, std::min<int64_t>(64, bytes[owner] - store.at)));
  std::memcpy(&content[owner][store.at], store.bytes.data(), store.bytes.size());
  plan.stores.push_back(std::move(store));
}

Plan Oracle::plan_phase(Random& random, const std::vector<Shape>& shapes, Sync sync, bool cached) {
  Plan plan;
  plan.sync = sync;
  for (auto& row : writer) {
    std::fill(row.begin(), row.end(), nobody);
  }
  if (busy > 0) {
    busy--;
  } else if (steps && below(random, 6) == 0) {
    busy = 1 + below(random, 3);
  }
  const int64_t changes =
      (steps ? busy == 0 : rarely_changed && below(random, 3) != 0) ? 0 : below(random, 6);
  const int64_t by_whom = steps ? below(random, 3) : 2;  // the owners, others, both
  for (int64_t i = 0; i < changes && by_whom != 1; i++) {
    add_store(random, plan);
  }
  before = content;  // stores are done before the phase begins
  for (int64_t i = 0; i < changes * 2 && by_whom != 0 && !spots.empty(); i++) {
    below(random, 8) == 0 ? add_sum(random, plan, Kind::sum) : add_write(random, shapes, plan);
  }
  if (sync == Sync::lock && !cached && (!steps || changes > 0) && below(random, 2)) {
    add_sum(random, plan, below(random, 2) ? Kind::locked : Kind::guarded);
  }
  return plan;
}

}  // namespace model
