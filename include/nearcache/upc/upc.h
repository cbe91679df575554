/* SPDX-License-Identifier: BSD-3-Clause */
/* <upc.h> of UPC 1.3: the required library, as the translator reads it (UPC, not C). */
#ifndef NEARCACHE_UPC_UPC_H
#define NEARCACHE_UPC_UPC_H

/* Programs use what other compilers' <upc.h> includes: the types of sys/types.h and timeval, and
 * Berkeley's what these declare. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/types.h>

#include "bupc_extensions.h"

#ifndef UPC_MAX_BLOCK_SIZE
#ifdef NCUPC_STRUCT_POINTERS
#define UPC_MAX_BLOCK_SIZE 2147483647
#else
#define UPC_MAX_BLOCK_SIZE 1048576
#endif
#endif

#include "upc_functions.h"

#endif
