// SPDX-License-Identifier: BSD-3-Clause

// The plain functions, as the headers declare them, without the source line of their call.
#define NCUPC_DEFINE_PLAIN
#include "nearcache/upc_runtime.h"
