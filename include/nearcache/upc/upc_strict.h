/* <upc_strict.h> of UPC 1.3: accesses that say nothing else are strict from here on. It acts each
 * time it is included. */
#include <upc.h>
#pragma upc strict
