/* <upc_relaxed.h> of UPC 1.3: accesses that say nothing else are relaxed from here on. It acts each
 * time it is included. */
#include <upc.h>
#pragma upc relaxed
