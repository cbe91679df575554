/* SPDX-License-Identifier: BSD-3-Clause */
/* <upc.h> of UPC 1.3: the required library, as the translator reads it (UPC, not C). */
#ifndef NEARCACHE_UPC_UPC_H
#define NEARCACHE_UPC_UPC_H

#include <stddef.h>
#include <sys/types.h> /* as in other compilers: programs use its types, and timeval */

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
