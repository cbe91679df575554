/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of <upc.h> as C functions, declared in nearcache/upc/upc_functions.h, and the error
 * function that all libraries use. Part of nearcache/upc_runtime.h. */
#ifndef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NEARCACHE_UPC_RUNTIME_LIBRARY_H

#include "nearcache/upc_runtime_pointer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NCUPC_HERE __FILE__, __LINE__

#include "nearcache/upc/upc_functions.h"

/* Ends all threads: prints `upc: thread 2: file:line: what: message` on stderr and exits with
 * status 1. If `file` is null, no line is named. */
NCUPC_NORETURN __attribute__((format(printf, 4, 5))) void ncupc_error(const char* file, int line,
                                                                      const char* what,
                                                                      const char* format, ...);

/* ---- Pointer functions, inline ---- */

static inline size_t ncupc_threadof(ncupc_ptr p) { return ncupc_thread(p); }
static inline size_t ncupc_phaseof(ncupc_ptr p) { return ncupc_phase(p); }
static inline size_t ncupc_addrfield(ncupc_ptr p) { return (size_t)ncupc_address(p); }
#define upc_threadof(...) ncupc_threadof(__VA_ARGS__)
#define upc_phaseof(...) ncupc_phaseof(__VA_ARGS__)
#define upc_addrfield(...) ncupc_addrfield(__VA_ARGS__)
#define upc_resetphase(...) ncupc_unphased(__VA_ARGS__)

#ifdef __cplusplus
}
#endif
#endif
