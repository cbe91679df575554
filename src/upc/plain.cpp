// The plain functions behind those that take the line of their call, all as their headers declare
// them.
#define NCUPC_DEFINE_PLAIN
#include "nearcache/upc_runtime.h"
