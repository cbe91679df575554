/* The optional libraries as C functions: <upc_tick.h>, <upc_atomic.h>, <upc_castable.h>, <upc_nb.h>, <upc_io.h>, and Berkeley's
 * extensions. Part of nearcache/upc_runtime.h.
 *
 * What they do is said in the headers of nearcache/upc. The macros add the source line that errors name. */
#ifndef NEARCACHE_UPC_RUNTIME_OPTIONAL_H
#define NEARCACHE_UPC_RUNTIME_OPTIONAL_H

#include "nearcache/upc_runtime_library.h" /* first: the headers of UPC programs leave out their functions then */

#ifdef __cplusplus
extern "C" {
#endif

#include "nearcache/upc/bupc_collectivev.h"
#include "nearcache/upc/bupc_extensions.h"
#include "nearcache/upc/upc_atomic.h"
#include "nearcache/upc/upc_castable.h"
#include "nearcache/upc/upc_io.h"
#include "nearcache/upc/upc_nb.h"

/* ---- upc_atomic.h ---- */

ncupc_ptr upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops, upc_atomichint_t hints);
void upc_all_atomicdomain_free(ncupc_ptr domain);
void upc_atomic_strict(ncupc_ptr domain, void *fetch_ptr, upc_op_t op, ncupc_ptr target, const void *operand1,
                       const void *operand2);
void upc_atomic_relaxed(ncupc_ptr domain, void *fetch_ptr, upc_op_t op, ncupc_ptr target, const void *operand1,
                        const void *operand2);
int upc_atomic_isfast(upc_type_t type, upc_op_t ops, ncupc_ptr addr);
ncupc_ptr ncupc_all_atomicdomain_alloc(const char *file, int line, upc_type_t type, upc_op_t ops, upc_atomichint_t hints);
void ncupc_all_atomicdomain_free(const char *file, int line, ncupc_ptr domain);
void ncupc_atomic_strict(const char *file, int line, ncupc_ptr domain, void *fetch_ptr, upc_op_t op, ncupc_ptr target,
                         const void *operand1, const void *operand2);
void ncupc_atomic_relaxed(const char *file, int line, ncupc_ptr domain, void *fetch_ptr, upc_op_t op, ncupc_ptr target,
                          const void *operand1, const void *operand2);
#define upc_all_atomicdomain_alloc(...) ncupc_all_atomicdomain_alloc(NCUPC_HERE, __VA_ARGS__)
#define upc_all_atomicdomain_free(...) ncupc_all_atomicdomain_free(NCUPC_HERE, __VA_ARGS__)
#define upc_atomic_strict(...) ncupc_atomic_strict(NCUPC_HERE, __VA_ARGS__)
#define upc_atomic_relaxed(...) ncupc_atomic_relaxed(NCUPC_HERE, __VA_ARGS__)

/* ---- upc_castable.h ---- */

void *upc_cast(ncupc_ptr ptr);
upc_thread_info_t upc_thread_info(size_t threadId);

/* ---- upc_nb.h ---- */

upc_handle_t upc_memcpy_nb(ncupc_ptr dst, ncupc_ptr src, size_t n);
upc_handle_t upc_memget_nb(void *dst, ncupc_ptr src, size_t n);
upc_handle_t upc_memput_nb(ncupc_ptr dst, const void *src, size_t n);
upc_handle_t upc_memset_nb(ncupc_ptr dst, int c, size_t n);
void upc_sync(upc_handle_t handle);
int upc_sync_attempt(upc_handle_t handle);
void upc_memcpy_nbi(ncupc_ptr dst, ncupc_ptr src, size_t n);
void upc_memget_nbi(void *dst, ncupc_ptr src, size_t n);
void upc_memput_nbi(ncupc_ptr dst, const void *src, size_t n);
void upc_memset_nbi(ncupc_ptr dst, int c, size_t n);
void upc_synci(void);
int upc_synci_attempt(void);

#ifdef __cplusplus
}
#endif
#endif
