// MPI's datatypes and operations in the RMA engine's terms.
#pragma once

#include <optional>
#include <vector>

#include "cache/get/layout.h"
#include "mpi/mpi_api.h"
#include "mpi/types/type_table.h"
#include "rma/elements.h"
#include "rma/wire.h"

namespace nearcache::mpi {

std::optional<rma::Operation> operation_of(MPI_Op op);
// Of a predefined type. One without arithmetic is bytes.
rma::Element element_of(MPI_Datatype named);
// The same of those that `know_element` was called with, from one thread at a time.
extern NamedTypes<rma::Element> known_elements;
void know_element(MPI_Datatype named, rma::Element element);

// Where the bytes of elements of a datatype lie, relative to their address.
struct Runs {
  uint64_t bytes = 0;
  int64_t first = 0;               // where they begin, if there is one run only
  std::vector<rma::Piece> pieces;  // else all of them, in the order of the type map: of pairs,
  std::vector<rma::Piece> parts;   // whose value and index lie there in each
  Elements elements;               // or, if there is a layout, those of these

  bool one_run() const { return pieces.empty() && elements.layout == nullptr; }
};

// False for a datatype that cannot be read, or, with an element, is not made of whole ones. Pairs
// count with the gap inside and behind them.
bool runs_of(MPI_Datatype type, MPI_Count count, rma::Element element, Runs* runs);
// The first `bytes` of them. Where data arrive there may be room for more, as in a receive.
void shorten(Runs* runs, uint64_t bytes);

// The bytes of `runs` at `address` in one piece: there, or copied to `storage`.
const std::byte* packed(const void* address, const Runs& runs, std::vector<std::byte>* storage);
void unpack(const std::byte* from, void* address, const Runs& runs);

}  // namespace nearcache::mpi
