/* SPDX-License-Identifier: BSD-3-Clause */
/* <upc_relaxed.h> of UPC 1.3: from here on, accesses are relaxed unless qualified otherwise. Takes
 * effect each time it is included. */
#include <upc.h>
#pragma upc relaxed
