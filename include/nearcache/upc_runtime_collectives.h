/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives as C functions, declared in nearcache/upc/upc_collective.h. Part of
 * nearcache/upc_runtime.h. */
#ifndef NEARCACHE_UPC_RUNTIME_COLLECTIVES_H
#define NEARCACHE_UPC_RUNTIME_COLLECTIVES_H

#include "nearcache/upc_runtime_library.h" /* first: tells the UPC headers that this is C */

#ifdef __cplusplus
extern "C" {
#endif

#include "nearcache/upc/upc_collective.h"

#ifdef __cplusplus
}
#endif
#endif
