// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/types/type_map.h"

#include <algorithm>

#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

size_t allowed_blocks = most_blocks;  // set before any datatype is read

// The results of MPI_Type_get_contents, for constructors with int and with large counts alike.
struct Contents {
  int combiner = MPI_UNDEFINED;
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<int64_t> larges;
  std::vector<MPI_Datatype> types;

  bool large() const { return !larges.empty(); }
  // The i-th of the numbers that a large constructor keeps separate from the others.
  int64_t number(size_t i) const { return large() ? larges[i] : ints[i]; }
};

bool read_envelope(MPI_Datatype datatype, Contents* contents) {
#ifdef NEARCACHE_HAS_Type_get_envelope_c
  if (next.Type_get_envelope_c != nullptr) {
    MPI_Count ints = 0, addresses = 0, larges = 0, types = 0;
    if (next.Type_get_envelope_c(datatype, &ints, &addresses, &larges, &types,
                                 &contents->combiner) != MPI_SUCCESS)
      return false;
    contents->ints.resize(static_cast<size_t>(ints));
    contents->addresses.resize(static_cast<size_t>(addresses));
    contents->larges.resize(static_cast<size_t>(larges));
    contents->types.resize(static_cast<size_t>(types));
    return true;
  }
#endif
  int ints = 0, addresses = 0, types = 0;
  if (next.Type_get_envelope(datatype, &ints, &addresses, &types, &contents->combiner) !=
      MPI_SUCCESS)
    return false;
  contents->ints.resize(static_cast<size_t>(ints));
  contents->addresses.resize(static_cast<size_t>(addresses));
  contents->types.resize(static_cast<size_t>(types));
  return true;
}

bool read_contents(MPI_Datatype datatype, Contents* c) {
#ifdef NEARCACHE_HAS_Type_get_contents_c
  if (c->large()) {
    std::vector<MPI_Count> counts(c->larges.size());
    const int rc = next.Type_get_contents_c(datatype, static_cast<MPI_Count>(c->ints.size()),
                                            static_cast<MPI_Count>(c->addresses.size()),
                                            static_cast<MPI_Count>(counts.size()),
                                            static_cast<MPI_Count>(c->types.size()), c->ints.data(),
                                            c->addresses.data(), counts.data(), c->types.data());
    std::copy(counts.begin(), counts.end(), c->larges.begin());
    return rc == MPI_SUCCESS;
  }
#endif
  if (c->large()) return false;
  return next.Type_get_contents(datatype, static_cast<int>(c->ints.size()),
                                static_cast<int>(c->addresses.size()),
                                static_cast<int>(c->types.size()), c->ints.data(),
                                c->addresses.data(), c->types.data()) == MPI_SUCCESS;
}

bool combiner_is_named(int combiner) {
  if (combiner == MPI_COMBINER_NAMED) return true;
#ifdef MPI_COMBINER_VALUE_INDEX
  if (combiner == MPI_COMBINER_VALUE_INDEX) return true;
#endif
  return combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

// Limits the work of reading one datatype. Even a type with few blocks may have very many parts, if
// these are empty or adjoin each other.
class Effort {
 public:
  bool spent() { return left_ == 0 || --left_ == 0; }

 private:
  uint64_t left_ = 64 * uint64_t{allowed_blocks};  // about 20 ms
};

// A type map under construction: appends copies of a child's map, merging adjoining blocks.
class Builder {
 public:
  Builder(TypeMap* map, Effort* effort) : map_(map), effort_(effort) {}

  bool add(const TypeMap& child, int64_t offset, int64_t times) {
    if (effort_->spent()) return false;
    if (child.blocks.empty()) return true;
    if (times > 0 && child.blocks.size() == 1 &&
        static_cast<int64_t>(child.blocks[0].length) == child.extent) {
      return add_block(
          {offset + child.blocks[0].offset, child.blocks[0].length * static_cast<uint64_t>(times)});
    }
    for (int64_t i = 0; i < times; ++i, offset += child.extent) {
      for (const Block& block : child.blocks) {
        if (!add_block({offset + block.offset, block.length})) return false;
      }
    }
    return true;
  }
  bool gives_up() { return effort_->spent(); }

 private:
  bool add_block(Block block) {
    if (effort_->spent()) return false;
    if (block.length == 0) return true;
    std::vector<Block>& blocks = map_->blocks;
    if (!blocks.empty() &&
        blocks.back().offset + static_cast<int64_t>(blocks.back().length) == block.offset) {
      blocks.back().length += block.length;
      return true;
    }
    if (blocks.size() >= allowed_blocks) return false;
    blocks.push_back(block);
    return true;
  }

  TypeMap* map_;
  Effort* effort_;
};

struct Run {
  int64_t start, length;
};

// Adds every combination of the runs of all dimensions, the last dimension varying fastest: a part
// of an array in C order.
bool add_array_part(Builder* builder, const TypeMap& child,
                    const std::vector<std::vector<Run>>& runs, const std::vector<int64_t>& strides,
                    size_t dimension, int64_t offset) {
  if (builder->gives_up()) return false;
  for (const Run& run : runs[dimension]) {
    if (dimension + 1 == runs.size()) {
      if (!builder->add(child, offset + run.start * strides[dimension], run.length)) return false;
      continue;
    }
    for (int64_t i = run.start; i < run.start + run.length; ++i) {
      if (!add_array_part(builder, child, runs, strides, dimension + 1,
                          offset + i * strides[dimension]))
        return false;
    }
  }
  return true;
}

bool add_array(Builder* builder, const TypeMap& child, std::vector<std::vector<Run>> runs,
               std::vector<int64_t> sizes, bool fortran) {
  if (fortran) {
    std::reverse(runs.begin(), runs.end());
    std::reverse(sizes.begin(), sizes.end());
  }
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = child.extent;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) strides[i] = stride;
  return runs.empty() || add_array_part(builder, child, runs, strides, 0, 0);
}

bool add_subarray(const Contents& c, const TypeMap& child, Builder* builder) {
  const auto dimensions = static_cast<size_t>(c.ints[0]);
  const size_t first = c.large() ? 0 : 1;
  std::vector<std::vector<Run>> runs;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dimensions; ++i) {
    sizes.push_back(c.number(first + i));
    runs.push_back({{c.number(first + 2 * dimensions + i), c.number(first + dimensions + i)}});
  }
  return add_array(builder, child, runs, sizes, c.ints.back() == MPI_ORDER_FORTRAN);
}

// Computes what process `at` of `processes` owns of `size` indices (MPI-3.1, section 4.1.4).
// Returns false if that is in too many pieces.
bool distributed_runs(int64_t size, int distribution, int64_t argument, int64_t processes,
                      int64_t at, std::vector<Run>* runs) {
  if (distribution == MPI_DISTRIBUTE_NONE) return *runs = {{0, size}}, true;
  const bool block = distribution == MPI_DISTRIBUTE_BLOCK;
  if (argument == MPI_DISTRIBUTE_DFLT_DARG)
    argument = block ? (size + processes - 1) / processes : 1;
  for (int64_t start = at * argument; start < size; start += processes * argument) {
    if (runs->size() >= allowed_blocks) return false;
    runs->push_back({start, std::min(argument, size - start)});
    if (block) break;
  }
  return true;
}

bool add_darray(const Contents& c, const TypeMap& child, Builder* builder) {
  const auto dimensions = static_cast<size_t>(c.ints[2]);
  // Large constructors keep the sizes separate, and the other arrays move up.
  const size_t after = c.large() ? 3 : 3 + dimensions;
  int64_t rank = c.ints[1];
  std::vector<int64_t> at(dimensions);
  for (size_t i = dimensions; i-- > 0;) {
    const int64_t processes = c.ints[after + 2 * dimensions + i];
    at[i] = rank % processes;
    rank /= processes;
  }
  std::vector<std::vector<Run>> runs;
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dimensions; ++i) {
    sizes.push_back(c.large() ? c.larges[i] : c.ints[3 + i]);
    if (!distributed_runs(sizes[i], c.ints[after + i], c.ints[after + dimensions + i],
                          c.ints[after + 2 * dimensions + i], at[i], &runs.emplace_back()))
      return false;
  }
  return add_array(builder, child, runs, sizes, c.ints.back() == MPI_ORDER_FORTRAN);
}

bool add_struct(const Contents& c, const std::vector<TypeMap>& children, Builder* builder) {
  const int64_t count = c.number(0);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t where =
        c.large() ? c.larges[static_cast<size_t>(1 + count + i)] : c.addresses[at];
    if (!builder->add(children[at], where, c.number(1 + at))) return false;
  }
  return true;
}

// Adds blocks of one child at displacements in units of `unit` bytes; their lengths may differ.
bool add_indexed(const Contents& c, const TypeMap& child, bool in_bytes, bool one_length,
                 Builder* builder) {
  const int64_t count = c.number(0);
  const size_t lengths = 1;
  const auto places = static_cast<size_t>(one_length ? 2 : 1 + count);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t length = c.number(one_length ? lengths : lengths + at);
    const int64_t place =
        in_bytes && !c.large() ? static_cast<int64_t>(c.addresses[at]) : c.number(places + at);
    if (!builder->add(child, in_bytes ? place : place * child.extent, length)) return false;
  }
  return true;
}

bool add_vector(const Contents& c, const TypeMap& child, bool in_bytes, Builder* builder) {
  const int64_t stride =
      in_bytes && !c.large() ? static_cast<int64_t>(c.addresses[0]) : c.number(2);
  const int64_t step = in_bytes ? stride : stride * child.extent;
  int64_t all = 0;
  if (step == c.number(1) * child.extent && !__builtin_mul_overflow(c.number(0), c.number(1), &all))
    return builder->add(child, 0, all);
  for (int64_t i = 0; i < c.number(0); ++i) {
    if (!builder->add(child, i * step, c.number(1))) return false;
  }
  return true;
}

bool combine(const Contents& c, const std::vector<TypeMap>& children, TypeMap* map,
             Effort* effort) {
  Builder builder(map, effort);
  switch (c.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return builder.add(children[0], 0, 1);
    case MPI_COMBINER_CONTIGUOUS:
      return builder.add(children[0], 0, c.number(0));
    case MPI_COMBINER_VECTOR:
      return add_vector(c, children[0], false, &builder);
    case MPI_COMBINER_HVECTOR:
      return add_vector(c, children[0], true, &builder);
    case MPI_COMBINER_INDEXED:
      return add_indexed(c, children[0], false, false, &builder);
    case MPI_COMBINER_HINDEXED:
      return add_indexed(c, children[0], true, false, &builder);
    case MPI_COMBINER_INDEXED_BLOCK:
      return add_indexed(c, children[0], false, true, &builder);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return add_indexed(c, children[0], true, true, &builder);
    case MPI_COMBINER_STRUCT:
      return add_struct(c, children, &builder);
    case MPI_COMBINER_SUBARRAY:
      return add_subarray(c, children[0], &builder);
    case MPI_COMBINER_DARRAY:
      return add_darray(c, children[0], &builder);
    default:
      return false;
  }
}

struct Pair {
  MPI_Datatype type;
  uint64_t first;  // bytes of the value
  int64_t second;  // offset of the int index
};

// The predefined types with a gap inside or at the end (MPI-3.1, section 5.9.4).
bool read_pair(MPI_Datatype datatype, TypeMap* map) {
  struct FloatInt {
    float a;
    int b;
  };
  struct DoubleInt {
    double a;
    int b;
  };
  struct LongInt {
    long a;
    int b;
  };
  struct ShortInt {
    short a;
    int b;
  };
  struct LongDoubleInt {
    long double a;
    int b;
  };
  const Pair pairs[] = {{MPI_FLOAT_INT, sizeof(float), offsetof(FloatInt, b)},
                        {MPI_DOUBLE_INT, sizeof(double), offsetof(DoubleInt, b)},
                        {MPI_LONG_INT, sizeof(long), offsetof(LongInt, b)},
                        {MPI_SHORT_INT, sizeof(short), offsetof(ShortInt, b)},
                        {MPI_LONG_DOUBLE_INT, sizeof(long double), offsetof(LongDoubleInt, b)}};
  for (const Pair& pair : pairs) {
    if (pair.type != datatype) continue;
    Effort effort;
    Builder builder(map, &effort);
    const TypeMap byte{{{0, 1}}, 1};
    return builder.add(byte, 0, static_cast<int64_t>(pair.first)) &&
           builder.add(byte, pair.second, sizeof(int));
  }
  return false;
}

bool read_named(MPI_Datatype datatype, TypeMap* map) {
  int size = 0;
  MPI_Aint lb = 0, true_extent = 0;
  if (next.Type_size(datatype, &size) != MPI_SUCCESS || size < 0) return false;
  if (next.Type_get_true_extent(datatype, &lb, &true_extent) != MPI_SUCCESS) return false;
  if (size == 0) return true;
  if (size == true_extent && size == map->extent && lb == 0) {
    map->blocks.push_back({0, static_cast<uint64_t>(size)});
    return true;
  }
  return read_pair(datatype, map);
}

}  // namespace

bool is_named(MPI_Datatype datatype) {
  Contents contents;
  return read_envelope(datatype, &contents) && combiner_is_named(contents.combiner);
}

int combiner_of(MPI_Datatype datatype) {
  Contents contents;
  return read_envelope(datatype, &contents) ? contents.combiner : MPI_UNDEFINED;
}

namespace {

// Whether the i-th part of a datatype has elements: structs may have empty ones of any type.
bool has_elements(const Contents& contents, size_t i) {
  int size = 0;
  return (contents.combiner != MPI_COMBINER_STRUCT || contents.number(1 + i) > 0) &&
         (next.Type_size(contents.types[i], &size) != MPI_SUCCESS || size != 0);
}

}  // namespace

MPI_Datatype base_type(MPI_Datatype datatype) {
  Contents contents;
  if (!read_envelope(datatype, &contents)) return MPI_DATATYPE_NULL;
  if (combiner_is_named(contents.combiner)) return datatype;
  if (!read_contents(datatype, &contents)) return MPI_DATATYPE_NULL;
  MPI_Datatype base = MPI_DATATYPE_NULL;
  bool one = true;
  for (size_t i = 0; i < contents.types.size(); ++i) {
    if (contents.types.size() == 1 || has_elements(contents, i)) {
      const MPI_Datatype child = base_type(contents.types[i]);
      one = one && child != MPI_DATATYPE_NULL && (base == MPI_DATATYPE_NULL || child == base);
      base = child;
    }
    if (!is_named(contents.types[i])) next.Type_free(&contents.types[i]);
  }
  return one ? base : MPI_DATATYPE_NULL;
}

void allow_blocks(size_t most) { allowed_blocks = most; }

static bool read_type_map(MPI_Datatype datatype, TypeMap* map, Effort* effort) {
  Contents contents;
  MPI_Aint lb = 0, extent = 0;
  if (effort->spent() || !read_envelope(datatype, &contents)) return false;
  if (next.Type_get_extent(datatype, &lb, &extent) != MPI_SUCCESS) return false;
  map->extent = extent;
  if (combiner_is_named(contents.combiner)) return read_named(datatype, map);
  if (!read_contents(datatype, &contents)) return false;
  // The handles that MPI_Type_get_contents returns are ours to free, unless they are predefined.
  std::vector<TypeMap> children(contents.types.size());
  bool known = true;
  for (size_t i = 0; i < contents.types.size(); ++i) {
    known = known && read_type_map(contents.types[i], &children[i], effort);
    if (!is_named(contents.types[i])) next.Type_free(&contents.types[i]);
  }
  return known && combine(contents, children, map, effort);
}

bool read_type_map(MPI_Datatype datatype, TypeMap* map) {
  Effort effort;
  return read_type_map(datatype, map, &effort);
}

}  // namespace nearcache::mpi
