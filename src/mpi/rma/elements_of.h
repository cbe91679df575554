// SPDX-License-Identifier: BSD-3-Clause

// Translates MPI's datatypes and operations into the RMA engine's terms.
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
// Returns the element of a predefined type; `bytes` for a type without arithmetic.
rma::Element element_of(MPI_Datatype named);
// The elements of the types that know_element() was called with. know_element() must not be called
// concurrently.
extern NamedTypes<rma::Element> known_elements;
void know_element(MPI_Datatype named, rma::Element element);

// The location of the bytes of a number of elements of a datatype, relative to their address.
struct Runs {
  uint64_t bytes = 0;
  int64_t first = 0;               // start of the bytes if they form one run
  std::vector<rma::Piece> pieces;  // otherwise all runs, in the order of the type map. Of pairs:
  std::vector<rma::Piece> parts;   // where value and index lie within each pair
  Elements elements;               // or, if `layout` is set, the elements whose bytes these are

  bool one_run() const { return pieces.empty() && elements.layout == nullptr; }
};

// Returns false if the datatype cannot be read or, given an element, does not consist of whole
// ones. The size of a pair includes the gaps inside and behind it.
bool runs_of(MPI_Datatype type, MPI_Count count, rma::Element element, Runs* runs);
// Keeps only the first `bytes` bytes. As in a receive, the destination may have room for more.
void shorten(Runs* runs, uint64_t bytes);

// Returns the bytes of `runs` at `address` contiguously: in place if possible, else copied to
// `storage`.
const std::byte* packed(const void* address, const Runs& runs, std::vector<std::byte>* storage);
void unpack(const std::byte* from, void* address, const Runs& runs);

}  // namespace nearcache::mpi
