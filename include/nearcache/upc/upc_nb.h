/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking copies (UPC optional library, section 7.8).
 *
 * Until a copy is complete, its source must not be written and its destination must be neither read
 * nor written. The _nb functions return a handle, which must be passed to upc_sync, or to
 * upc_sync_attempt until that returns 1. The copies of the _nbi functions are completed together by
 * upc_synci. A handle belongs to the thread that got it. Since OpenSHMEM completes all copies
 * together, upc_sync of one copy also waits for those started before it, and the attempts complete
 * what they ask about. */
#ifndef NEARCACHE_UPC_UPC_NB_H
#define NEARCACHE_UPC_UPC_NB_H

#include <stdint.h>

#ifndef __UPC_NB__
#define __UPC_NB__ 1
#endif

typedef uint64_t upc_handle_t;

/* The handle of a copy that is already complete. */
#define UPC_COMPLETE_HANDLE ((upc_handle_t)0)

#include <stddef.h>
#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#include <upc.h>
#endif

#include "upc_declare.h"

upc_handle_t upc_memcpy_nb(NCUPC_SHARED_RESTRICT(void) dst, NCUPC_SHARED_RESTRICT(const void) src,
                           size_t n);
upc_handle_t upc_memget_nb(void* NCUPC_RESTRICT dst, NCUPC_SHARED_RESTRICT(const void) src,
                           size_t n);
upc_handle_t upc_memput_nb(NCUPC_SHARED_RESTRICT(void) dst, const void* NCUPC_RESTRICT src,
                           size_t n);
upc_handle_t upc_memset_nb(NCUPC_SHARED dst, int c, size_t n);
void upc_sync(upc_handle_t handle);
int upc_sync_attempt(upc_handle_t handle);

void upc_memcpy_nbi(NCUPC_SHARED_RESTRICT(void) dst, NCUPC_SHARED_RESTRICT(const void) src,
                    size_t n);
void upc_memget_nbi(void* NCUPC_RESTRICT dst, NCUPC_SHARED_RESTRICT(const void) src, size_t n);
void upc_memput_nbi(NCUPC_SHARED_RESTRICT(void) dst, const void* NCUPC_RESTRICT src, size_t n);
void upc_memset_nbi(NCUPC_SHARED dst, int c, size_t n);
void upc_synci(void);
int upc_synci_attempt(void);

#endif
