#include "layouts.h"

#include <algorithm>

namespace model {

const std::vector<Unit>& units() {
  // DOUBLE_INT and SHORT_INT have gaps, at the end and inside, which no get may touch.
  static const std::vector<Unit> all = {
      {MPI_BYTE, {{0, 1}}, 1},         {MPI_SHORT, {{0, 2}}, 2},
      {MPI_INT, {{0, 4}}, 4},          {MPI_DOUBLE, {{0, 8}}, 8},
      {MPI_INT64_T, {{0, 8}}, 8},      {MPI_DOUBLE_INT, {{0, 8}, {8, 4}}, 16},
      {MPI_2INT, {{0, 4}, {4, 4}}, 8}, {MPI_SHORT_INT, {{0, 2}, {4, 4}}, 8},
  };
  return all;
}

namespace {

void append(std::vector<Block>& to, const std::vector<Block>& part, int64_t offset) {
  for (const Block& block : part) {
    to.push_back({block.offset + offset, block.bytes});
  }
}

void measure(Layout& layout) { MPI_Type_get_extent(layout.type, &layout.lb, &layout.extent); }

// Places the parts of `child` at element positions (multiples of its extent) or at byte positions.
void place(Layout& made, const Layout& child, int64_t byte_offset, int count) {
  for (int i = 0; i < count; i++) {
    append(made.blocks, child.blocks, byte_offset + i * (int64_t)child.extent);
  }
}

bool overlaps(std::vector<Block> blocks) {
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.offset < b.offset; });
  for (size_t i = 1; i < blocks.size(); i++) {
    if (blocks[i - 1].offset + blocks[i - 1].bytes > blocks[i].offset) {
      return true;
    }
  }
  return false;
}

// Returns a random divisor of n.
int divisor(Random& random, int n) {
  std::vector<int> found;
  for (int i = 1; i <= n; i++) {
    if (n % i == 0) {
      found.push_back(i);
    }
  }
  return found[below(random, (int64_t)found.size())];
}

// n cut into parts of at least one, laid out with random gaps and in random order.
struct Cut {
  std::vector<int> lengths, positions;
  std::vector<MPI_Aint> bytes;
};

Cut cut(Random& random, int n, int64_t extent, int equal_length) {
  Cut made;
  for (int left = n; left > 0;) {
    const int length = equal_length ? equal_length : 1 + (int)below(random, std::min(left, 6));
    made.lengths.push_back(length);
    left -= length;
  }
  std::vector<int> slots(made.lengths.size());
  for (size_t i = 0; i < slots.size(); i++) {
    slots[i] = (int)i;
  }
  std::shuffle(slots.begin(), slots.end(), random);
  made.positions.resize(slots.size());
  int at = (int)below(random, 3);
  for (const int slot : slots) {
    made.positions[slot] = at;
    at += made.lengths[slot] + (int)below(random, 3);
  }
  for (const int position : made.positions) {
    made.bytes.push_back(position * extent);
  }
  return made;
}

Layout vector(Random& random, const Layout& child, int n, bool by_bytes) {
  Layout made;
  const int length = divisor(random, n), count = n / length;
  int stride = length + (int)below(random, 3);
  if (below(random, 4) == 0) {
    stride = -stride;  // negative lower bound
  }
  if (by_bytes) {
    MPI_Type_create_hvector(count, length, stride * child.extent, child.type, &made.type);
  } else {
    MPI_Type_vector(count, length, stride, child.type, &made.type);
  }
  for (int i = 0; i < count; i++) {
    place(made, child, (int64_t)i * stride * child.extent, length);
  }
  return made;
}

Layout indexed(Random& random, const Layout& child, int n, int kind) {
  Layout made;
  const int equal = kind >= 2 ? divisor(random, n) : 0;
  const Cut parts = cut(random, n, child.extent, equal);
  const int count = (int)parts.lengths.size();
  switch (kind) {
    case 0:
      MPI_Type_indexed(count, parts.lengths.data(), parts.positions.data(), child.type, &made.type);
      break;
    case 1:
      MPI_Type_create_hindexed(count, parts.lengths.data(), parts.bytes.data(), child.type,
                               &made.type);
      break;
    case 2:
      MPI_Type_create_indexed_block(count, equal, parts.positions.data(), child.type, &made.type);
      break;
    default:
      MPI_Type_create_hindexed_block(count, equal, parts.bytes.data(), child.type, &made.type);
      break;
  }
  for (int i = 0; i < count; i++) {
    place(made, child, parts.bytes[i], parts.lengths[i]);
  }
  return made;
}

Layout structure(Random& random, const Layout& child, int n) {
  Layout made;
  const Cut parts = cut(random, n, child.extent, 0);
  const std::vector<MPI_Datatype> types(parts.lengths.size(), child.type);
  MPI_Type_create_struct((int)types.size(), parts.lengths.data(), parts.bytes.data(), types.data(),
                         &made.type);
  for (size_t i = 0; i < types.size(); i++) {
    place(made, child, parts.bytes[i], parts.lengths[i]);
  }
  return made;
}

Layout subarray(Random& random, const Layout& child, int n) {
  Layout made;
  const int rows = divisor(random, n);
  const int part[2] = {rows, n / rows};
  const int start[2] = {(int)below(random, 3), (int)below(random, 3)};
  const int whole[2] = {part[0] + start[0] + (int)below(random, 2),
                        part[1] + start[1] + (int)below(random, 3)};
  const bool fortran = below(random, 2);
  MPI_Type_create_subarray(2, whole, part, start, fortran ? MPI_ORDER_FORTRAN : MPI_ORDER_C,
                           child.type, &made.type);
  const int fast = fortran ? 0 : 1, slow = 1 - fast;
  for (int i = 0; i < part[slow]; i++) {
    place(made, child, ((int64_t)(start[slow] + i) * whole[fast] + start[fast]) * child.extent,
          part[fast]);
  }
  return made;
}

// A cyclic distribution over two processes: each has every other element.
Layout darray(Random& random, const Layout& child, int n) {
  Layout made;
  const int whole = 2 * n, who = (int)below(random, 2), cyclic = MPI_DISTRIBUTE_CYCLIC, one = 1,
            processes = 2;
  MPI_Type_create_darray(2, who, 1, &whole, &cyclic, &one, &processes, MPI_ORDER_C, child.type,
                         &made.type);
  for (int i = 0; i < n; i++) {
    place(made, child, (2 * (int64_t)i + who) * child.extent, 1);
  }
  return made;
}

Layout contiguous(const Layout& child, int n) {
  Layout made;
  MPI_Type_contiguous(n, child.type, &made.type);
  place(made, child, 0, n);
  return made;
}

Layout arrange(Random& random, const Layout& child, int n) {
  const int kind = (int)below(random, 11);
  if (kind < 2) {
    return vector(random, child, n, kind == 1);
  }
  if (kind < 6) {
    return indexed(random, child, n, kind - 2);
  }
  switch (kind) {
    case 6:
      return structure(random, child, n);
    case 7:
      return subarray(random, child, n);
    case 8:
      return darray(random, child, n);
    default:
      return contiguous(child, n);
  }
}

// Sets new bounds: the lower one below or above the data, and an extent wide enough for the next
// element.
void resize(Random& random, Layout& layout, int64_t unit_extent) {
  MPI_Datatype resized;
  const MPI_Aint lb = layout.lb + (below(random, 3) - 1) * unit_extent;
  MPI_Type_create_resized(layout.type, lb, layout.extent + below(random, 3) * unit_extent,
                          &resized);
  MPI_Type_free(&layout.type);
  layout.type = resized;
}

}  // namespace

std::vector<Block> blocks_of(const Layout& layout, int count) {
  std::vector<Block> all;
  for (int i = 0; i < count; i++) {
    append(all, layout.blocks, i * (int64_t)layout.extent);
  }
  return all;
}

Layout contiguous_layout(const Unit& unit) {
  Layout made;
  made.type = unit.type;
  made.blocks = unit.blocks;
  made.extent = unit.extent;
  made.predefined = true;
  return made;
}

void free_layout(Layout& layout) {
  if (!layout.predefined && layout.type != MPI_DATATYPE_NULL) {
    MPI_Type_free(&layout.type);
  }
}

Layout random_layout(Random& random, const Unit& unit, int n) {
  for (;;) {
    Layout inner = contiguous_layout(unit);
    int outer_units = n;
    if (below(random, 3) == 0) {  // nested
      const int inner_units = divisor(random, n);
      Layout nested = arrange(random, inner, inner_units);
      measure(nested);
      inner = nested;
      outer_units = n / inner_units;
    }
    Layout made = arrange(random, inner, outer_units);
    measure(made);
    if (below(random, 4) == 0) {
      resize(random, made, unit.extent);
      measure(made);
    }
    free_layout(inner);
    MPI_Type_commit(&made.type);
    if (!overlaps(blocks_of(made, 3))) {
      return made;
    }
    MPI_Type_free(&made.type);
  }
}

}  // namespace model
