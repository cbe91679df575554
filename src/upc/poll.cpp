// SPDX-License-Identifier: BSD-3-Clause

// bupc_poll and upc_poll: Berkeley UPC's names for what a thread calls while it waits for others in
// its own loop.
#include "upc/internal.h"

extern "C" {

void bupc_poll(void) {
  ncupc_fence();
  ncupc_poll(); /* now and then leaves the processor to others */
}

void upc_poll(void) { bupc_poll(); }

}  // extern "C"
