/* SPDX-License-Identifier: BSD-3-Clause */
/* Private pointers to other threads' memory (UPC optional library, section 7.7). */
#ifndef NEARCACHE_UPC_UPC_CASTABLE_H
#define NEARCACHE_UPC_UPC_CASTABLE_H

#ifndef __UPC_CASTABLE__
#define __UPC_CASTABLE__ 1
#endif

/* Origins of memory: bits in the fields of upc_thread_info_t. */
#define UPC_CASTABLE_ALL_ALLOC 1
#define UPC_CASTABLE_GLOBAL_ALLOC 2
#define UPC_CASTABLE_ALLOC 4
#define UPC_CASTABLE_STATIC 8
#define UPC_CASTABLE_ALL 15

typedef struct {
  int guaranteedCastable; /* upc_cast returns a pointer for such memory of the thread */
  int probablyCastable;   /* it may */
} upc_thread_info_t;

#include <stddef.h>
#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#include <upc.h>
#endif

#include "upc_declare.h"

/* Returns the address at which this thread loads and stores what ptr points to; NULL if it cannot,
 * or if ptr is null. */
void* upc_cast(NCUPC_SHARED_CONST ptr);
upc_thread_info_t upc_thread_info(size_t threadId);

#endif
