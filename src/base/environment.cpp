#include "base/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>


namespace nearcache {

const char* environment_value(const char* name) { return secure_getenv(name); }

char** environment_all() { return getauxval(AT_SECURE) != 0 ? nullptr : environ; }

}  // namespace nearcache
