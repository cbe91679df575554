// The plain functions, as the headers declare them, without the source line of their call.
#define NCUPC_DEFINE_PLAIN
#include "nearcache/upc_runtime.h"
