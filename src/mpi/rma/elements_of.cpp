// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/elements_of.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpi/process/next.h"
#include "mpi/types/type_map.h"

namespace nearcache::mpi {
namespace {

using rma::Element;
using rma::Operation;
using rma::Piece;

enum class Class { whole, natural, real, complex, pair_of_wholes };

// The element of a class by its size: Fortran's types and C's `long` differ in size between
// systems.
Element by_size(Class kind, MPI_Datatype type) {
  int size = 0;
  next.Type_size(type, &size);
  switch (kind) {
    case Class::whole:
      return size == 1   ? Element::int8
             : size == 2 ? Element::int16
             : size == 4 ? Element::int32
             : size == 8 ? Element::int64
                         : Element::int128;
    case Class::natural:
      return size == 1   ? Element::uint8
             : size == 2 ? Element::uint16
             : size == 4 ? Element::uint32
                         : Element::uint64;
    case Class::real:
      return size == 2   ? Element::float16
             : size == 4 ? Element::float32
             : size == 8 ? Element::float64
                         : Element::float128;
    case Class::complex:
      return size == 4    ? Element::complex32
             : size == 8  ? Element::complex64
             : size == 16 ? Element::complex128
                          : Element::complex256;
    case Class::pair_of_wholes:
      return size == 8 ? Element::pair_int : Element::bytes;
  }
  return Element::bytes;
}

// The element of a type that Fortran requests by precision. Longer reals are excluded: their size
// does not determine their format.
Element fortran_element(MPI_Datatype type) {
  int size = 0;
  next.Type_size(type, &size);
  switch (combiner_of(type)) {
    case MPI_COMBINER_F90_INTEGER:
      return by_size(Class::whole, type);
    case MPI_COMBINER_F90_REAL:
      return size <= 8 ? by_size(Class::real, type) : Element::bytes;
    case MPI_COMBINER_F90_COMPLEX:
      return size <= 16 ? by_size(Class::complex, type) : Element::bytes;
    default:
      return Element::bytes;
  }
}

struct NamedClass {
  MPI_Datatype type;
  Class kind;
};
struct NamedElement {
  MPI_Datatype type;
  Element element;
};

}  // namespace

// The standard defines no arithmetic on MPI_CHAR, MPI_CHARACTER and MPI_BYTE. Hosts do, and
// programs rely on it: mpi4py's default operation is a sum, even of bytes.
rma::Element element_of(MPI_Datatype named) {
  const NamedElement exact[] = {
    {MPI_LONG_DOUBLE, Element::long_double},
    {MPI_C_LONG_DOUBLE_COMPLEX, Element::complex_long_double},
#if defined(MPI_CXX_LONG_DOUBLE_COMPLEX) && !defined(NEARCACHE_FAMILY_SIMGRID)
    {MPI_CXX_LONG_DOUBLE_COMPLEX, Element::complex_long_double},
#endif
    {MPI_FLOAT_INT, Element::pair_float},
    {MPI_DOUBLE_INT, Element::pair_double},
    {MPI_LONG_INT, Element::pair_long},
    {MPI_2INT, Element::pair_int},
    {MPI_SHORT_INT, Element::pair_short},
    {MPI_LONG_DOUBLE_INT, Element::pair_long_double},
    {MPI_2REAL, Element::pair_of_floats},
    {MPI_2DOUBLE_PRECISION, Element::pair_of_doubles}
  };
  const NamedClass classes[] = {
    {MPI_CHAR, Class::whole},
    {MPI_CHARACTER, Class::whole},
    {MPI_SIGNED_CHAR, Class::whole},
    {MPI_SHORT, Class::whole},
    {MPI_INT, Class::whole},
    {MPI_LONG, Class::whole},
    {MPI_LONG_LONG, Class::whole},
    {MPI_INT8_T, Class::whole},
    {MPI_INT16_T, Class::whole},
    {MPI_INT32_T, Class::whole},
    {MPI_INT64_T, Class::whole},
    {MPI_AINT, Class::whole},
    {MPI_OFFSET, Class::whole},
    {MPI_COUNT, Class::whole},
    {MPI_INTEGER, Class::whole},
    {MPI_LOGICAL, Class::whole},
    {MPI_BYTE, Class::natural},
    {MPI_UNSIGNED_CHAR, Class::natural},
    {MPI_UNSIGNED_SHORT, Class::natural},
    {MPI_UNSIGNED, Class::natural},
    {MPI_UNSIGNED_LONG, Class::natural},
    {MPI_UNSIGNED_LONG_LONG, Class::natural},
    {MPI_UINT8_T, Class::natural},
    {MPI_UINT16_T, Class::natural},
    {MPI_UINT32_T, Class::natural},
    {MPI_UINT64_T, Class::natural},
    {MPI_C_BOOL, Class::natural},
    {MPI_FLOAT, Class::real},
    {MPI_DOUBLE, Class::real},
    {MPI_REAL, Class::real},
    {MPI_DOUBLE_PRECISION, Class::real},
    {MPI_C_FLOAT_COMPLEX, Class::complex},
    {MPI_C_DOUBLE_COMPLEX, Class::complex},
    {MPI_COMPLEX, Class::complex},
    {MPI_2INTEGER, Class::pair_of_wholes},
// SimGrid has names for types that it lacks
#if defined(MPI_CXX_BOOL) && !defined(NEARCACHE_FAMILY_SIMGRID)
    {MPI_CXX_BOOL, Class::natural},
    {MPI_CXX_FLOAT_COMPLEX, Class::complex},
    {MPI_CXX_DOUBLE_COMPLEX, Class::complex},
#endif
#ifdef MPI_DOUBLE_COMPLEX
    {MPI_DOUBLE_COMPLEX, Class::complex},
#endif
#ifdef MPI_INTEGER1
    {MPI_INTEGER1, Class::whole},
    {MPI_INTEGER2, Class::whole},
    {MPI_INTEGER4, Class::whole},
    {MPI_INTEGER8, Class::whole},
    {MPI_REAL4, Class::real},
    {MPI_REAL8, Class::real},
    {MPI_COMPLEX8, Class::complex},
    {MPI_COMPLEX16, Class::complex},
#endif
#ifdef MPI_LOGICAL1
    {MPI_LOGICAL1, Class::whole},
#endif
#ifdef MPI_LOGICAL2
    {MPI_LOGICAL2, Class::whole},
#endif
#ifdef MPI_LOGICAL4
    {MPI_LOGICAL4, Class::whole},
#endif
#ifdef MPI_LOGICAL8
    {MPI_LOGICAL8, Class::whole},
#endif
#ifdef MPI_LOGICAL16
    {MPI_LOGICAL16, Class::whole},
#endif
#ifdef MPI_INTEGER16
    {MPI_INTEGER16, Class::whole},
#endif
#ifdef MPI_REAL2
    {MPI_REAL2, Class::real},
#endif
#ifdef MPI_COMPLEX4
    {MPI_COMPLEX4, Class::complex},
#endif
#ifdef MPIX_C_FLOAT16
    {MPIX_C_FLOAT16, Class::real},
#endif
#ifdef MPI_REAL16
    {MPI_REAL16, Class::real},
#endif
#ifdef MPI_COMPLEX32
    {MPI_COMPLEX32, Class::complex},
#endif
  };
  // as are the types above that this MPI lacks
  if (named == MPI_DATATYPE_NULL) return Element::bytes;
  for (const NamedElement& each : exact) {
    if (each.type == named) return each.element;
  }
  for (const NamedClass& each : classes) {
    if (each.type == named) return by_size(each.kind, named);
  }
  return fortran_element(named);
}

NamedTypes<rma::Element> known_elements;

// Leaves out types of more than one byte without an element of their own, such as MPI_WCHAR: their
// count of elements must not be taken for a count of bytes.
void know_element(MPI_Datatype named, Element element) {
  int size = 1;
  if (element == Element::bytes && (next.Type_size(named, &size) != MPI_SUCCESS || size != 1))
    return;
  static const auto all = [] {
    std::array<Element, rma::element_count> each{};
    for (size_t i = 0; i < each.size(); ++i) each[i] = static_cast<Element>(i);
    return each;
  }();
  known_elements.add(named, &all[static_cast<size_t>(element)]);
}

std::optional<rma::Operation> operation_of(MPI_Op op) {
  const std::pair<MPI_Op, Operation> all[] = {
      {MPI_REPLACE, Operation::replace},  {MPI_NO_OP, Operation::no_op},
      {MPI_SUM, Operation::sum},          {MPI_PROD, Operation::product},
      {MPI_MIN, Operation::minimum},      {MPI_MAX, Operation::maximum},
      {MPI_LAND, Operation::logical_and}, {MPI_LOR, Operation::logical_or},
      {MPI_LXOR, Operation::logical_xor}, {MPI_BAND, Operation::bit_and},
      {MPI_BOR, Operation::bit_or},       {MPI_BXOR, Operation::bit_xor},
      {MPI_MINLOC, Operation::minloc},    {MPI_MAXLOC, Operation::maxloc}};
  for (const auto& [named, operation] : all) {
    if (named == op) return operation;
  }
  return {};
}

namespace {

// A pair with gaps is several blocks, or one that is shorter than the pair: each pair becomes one
// run that includes its gaps. Where pairs touch, a block of the layout may span two of them.
bool runs_of_pairs(const Layout& layout, MPI_Count count, uint64_t pair_bytes, const Layout& pair,
                   Runs* runs) {
  std::vector<int64_t> pairs;
  size_t block = 0;
  uint64_t taken = 0;  // bytes of the block used so far
  while (block < layout.blocks.size()) {
    const int64_t at = layout.blocks[block].offset + static_cast<int64_t>(taken);
    for (const Block& part : pair.blocks) {
      if (block == layout.blocks.size()) return false;
      const Block& from = layout.blocks[block];
      if (from.offset + static_cast<int64_t>(taken) != at + part.offset ||
          from.length - taken < part.length)
        return false;
      taken += part.length;
      if (taken == from.length) ++block, taken = 0;
    }
    pairs.push_back(at);
  }
  for (MPI_Count i = 0; i < count; ++i) {
    for (const int64_t at : pairs)
      runs->pieces.push_back({at + static_cast<int64_t>(i) * layout.extent, pair_bytes});
  }
  return true;
}

}  // namespace

bool runs_of(MPI_Datatype type, MPI_Count count, rma::Element element, Runs* runs) {
  const Layout* layout = large_layout_of(type);
  if (layout == nullptr) return false;
  if (count <= 0 || layout->size == 0) return true;
  // A size that overflows exceeds all memory anyway: moving that much is reported as an error.
  count = std::min(count, static_cast<MPI_Count>(UINT64_MAX / layout->size / 2));
  const uint64_t size = rma::size_of(element);
  const MPI_Datatype base = size == 1 ? MPI_DATATYPE_NULL : base_type(type);
  const Layout* pair =
      base != MPI_DATATYPE_NULL && element_of(base) == element ? layout_of(base) : nullptr;
  const Elements elements{layout, static_cast<uint64_t>(count)};
  if (pair != nullptr && pair->size != size) {
    if (!runs_of_pairs(*layout, count, size, *pair, runs)) return false;
    for (const Block& part : pair->blocks) runs->parts.push_back({part.offset, part.length});
  } else if (elements.contiguous()) {
    runs->first = elements.first_offset();
    runs->bytes = elements.bytes();
    return runs->bytes % size == 0;
  } else {
    runs->elements = elements;
    runs->bytes = elements.bytes();
    return std::ranges::all_of(layout->blocks,
                               [&](const Block& block) { return block.length % size == 0; });
  }
  for (const Piece& piece : runs->pieces) runs->bytes += piece.length;
  return true;
}

void shorten(Runs* runs, uint64_t bytes) {
  runs->bytes = std::min(runs->bytes, bytes);
  uint64_t before = 0;
  size_t kept = 0;
  for (; kept < runs->pieces.size() && before < runs->bytes; ++kept) {
    Piece& piece = runs->pieces[kept];
    piece.length = std::min(piece.length, runs->bytes - before);
    before += piece.length;
  }
  runs->pieces.resize(kept);
}

namespace {

// The gaps between the parts of a pair and behind them must be neither read nor written. Calls
// `part` with the position of each part, and the part; and `next_pair` with the length of each
// pair.
template <class Part, class Next>
void each_part(const Runs& runs, Part part, Next next_pair) {
  for (const Piece& piece : runs.pieces) {
    for (const Piece& its : runs.parts) {
      if (static_cast<uint64_t>(its.offset) + its.length <= piece.length)
        part(piece.offset + its.offset, its);
    }
    next_pair(piece.length);
  }
}

}  // namespace

const std::byte* packed(const void* address, const Runs& runs, std::vector<std::byte>* storage) {
  const auto* from = static_cast<const std::byte*>(address);
  if (runs.one_run()) return from + runs.first;
  storage->resize(runs.bytes);
  if (runs.elements.layout != nullptr)
    return pack(address, runs.elements, runs.bytes, storage->data()), storage->data();
  std::byte* to = storage->data();
  each_part(
      runs,
      [&](int64_t at, const Piece& part) { std::memcpy(to + part.offset, from + at, part.length); },
      [&](uint64_t bytes) { to += bytes; });
  return storage->data();
}

void unpack(const std::byte* from, void* address, const Runs& runs) {
  if (runs.elements.layout != nullptr)
    return nearcache::unpack(from, runs.bytes, address, runs.elements);
  auto* to = static_cast<std::byte*>(address);
  each_part(
      runs,
      [&](int64_t at, const Piece& part) { std::memcpy(to + at, from + part.offset, part.length); },
      [&](uint64_t bytes) { from += bytes; });
}

}  // namespace nearcache::mpi
