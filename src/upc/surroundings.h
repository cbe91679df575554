// SPDX-License-Identifier: BSD-3-Clause

// Settings that the OpenSHMEM library needs before it starts, so that a program works under any
// launcher, and without one.
#pragma once

#include <cstddef>

namespace nearcache::upc {

// Sets, where the user has not: room for `heap` bytes of shared heap and for static shared data in
// the symmetric heap, and Open MPI's memory hook off.
void prepare_surroundings(size_t heap);

}  // namespace nearcache::upc
