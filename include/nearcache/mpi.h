/* SPDX-License-Identifier: BSD-3-Clause */
/* Nearcache for MPI: what a program may call besides MPI itself. None of it is needed: preloading
 * libnearcache_mpi.so, or linking it before MPI, already caches the gets of an unmodified program.
 *
 * Every function returns an MPI error code: MPI_SUCCESS, MPI_ERR_WIN (no such window) or
 * MPI_ERR_ARG; no error handler is called. All may be called from any thread once MPI is
 * initialised. None communicates, except that leaving mode "coherent" sends one word to each rank
 * of the window.
 *
 * A window's mode is set at creation by the info key "nearcache_mode" with the value "off",
 * "transparent", "coherent", "always" or "user", later by MPI_Win_set_info or nearcache_set_mode,
 * and for all windows of a program by the environment variable NEARCACHE_MODE ("user" set there
 * takes effect with the first call to nearcache_invalidate). Other options have info keys too: see
 * docs/options.md. */
#ifndef NEARCACHE_MPI_H
#define NEARCACHE_MPI_H

#include <mpi.h>

#include "nearcache/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NEARCACHE_API __attribute__((visibility("default")))
#else
#define NEARCACHE_API
#endif

/* What the program promises about a window's memory, and when its cache is dropped
 * (docs/semantics.md). */
typedef enum nearcache_mode {
  NEARCACHE_MODE_OFF = 0,         /* nothing is cached */
  NEARCACHE_MODE_TRANSPARENT = 1, /* no promise; dropped whenever the program synchronises */
  /* the memory is read-only while the window lives; never dropped */
  NEARCACHE_MODE_ALWAYS = 2,
  NEARCACHE_MODE_USER = 3, /* read-only phases; dropped by nearcache_invalidate */
  /* no promise; what has not changed is kept. Must be requested when the window is created */
  NEARCACHE_MODE_COHERENT = 4
} nearcache_mode;

/* Drops everything cached for `win`; ends a read-only phase of mode `user` (CLaMPI, section III.A).
 * A get issued after the call returns fetches anew; gets still in flight complete as usual but are
 * not kept. Local; O(1). Does nothing to a window that is not cached. Errors: MPI_ERR_WIN. */
NEARCACHE_API int nearcache_invalidate(MPI_Win win);

/* Fills `stats` for `win`; for MPI_WIN_NULL, with the sums over all windows of this process, freed
 * ones included. Set stats->size first. Errors: MPI_ERR_WIN, MPI_ERR_ARG (stats is null, or the
 * size too small). */
NEARCACHE_API int nearcache_get_stats(MPI_Win win, nearcache_stats* stats);

/* Stores the mode of `win` in *mode. Errors: MPI_ERR_WIN, MPI_ERR_ARG (mode is null). */
NEARCACHE_API int nearcache_get_mode(MPI_Win win, nearcache_mode* mode);

/* Sets the mode of `win` and drops what is cached. `coherent` must be the mode in which the window
 * is created: a window created in another mode acts as in mode `transparent`. Errors: MPI_ERR_WIN
 * (no window, or one that is left alone because its synchronisation cannot be seen); MPI_ERR_ARG
 * (no such mode; or any mode but `off` for a window that cannot be cached: a shared-memory window,
 * or one for which max_storage has no room); and the error of a deferred lock that this call passes
 * to MPI. */
NEARCACHE_API int nearcache_set_mode(MPI_Win win, nearcache_mode mode);

/* Drops everything cached for `win`, sets its statistics to zero and forgets the costs measured so
 * far. Local. Errors: MPI_ERR_WIN. */
NEARCACHE_API int nearcache_reset(MPI_Win win);

/* CLaMPI's info key, so that its users can switch. Its values are the names below, and CLaMPI's
 * numbers 1, 2 and 3. */
#define CLAMPI_MODE "CLAMPI_MODE"
#define CLAMPI_TRANSPARENT "CLAMPI_TRANSPARENT"   /* mode `transparent`, also 1 */
#define CLAMPI_ALWAYS_CACHE "CLAMPI_ALWAYS_CACHE" /* mode `always`, also 2 */
#define CLAMPI_USER_DEFINED "CLAMPI_USER_DEFINED" /* mode `user`, also 3 */

/* Same as nearcache_invalidate, under CLaMPI's name. */
NEARCACHE_API int CLAMPI_Invalidate(MPI_Win win);

#ifdef __cplusplus
}
#endif
#endif
