/* SPDX-License-Identifier: BSD-3-Clause */
/* The optional libraries as C functions: <upc_tick.h>, <upc_atomic.h>, <upc_castable.h>,
 * <upc_nb.h>, <upc_io.h>, and the extensions of Nearcache and of Berkeley, declared in those
 * headers of nearcache/upc. Part of nearcache/upc_runtime.h. */
#ifndef NEARCACHE_UPC_RUNTIME_OPTIONAL_H
#define NEARCACHE_UPC_RUNTIME_OPTIONAL_H

#include "nearcache/upc_runtime_library.h" /* first: tells the UPC headers that this is C */

#ifdef __cplusplus
extern "C" {
#endif

#include "nearcache/upc/bupc_collectivev.h"
#include "nearcache/upc/bupc_extensions.h"
#include "nearcache/upc/upc_atomic.h"
#include "nearcache/upc/upc_castable.h"
#include "nearcache/upc/upc_io.h"
#include "nearcache/upc/upc_nb.h"
#include "nearcache/upc/upc_prefetch.h"

#ifdef __cplusplus
}
#endif
#endif
