// __FILE__, __LINE__ and __func__ speak of the UPC source.
#include <string.h>
#include "check.h"

static const char *name(void) { return __func__; }

int main(void)
{
    const char *file = __FILE__;
    CHECK_EQ(__LINE__, 10);
    CHECK(strlen(file) >= 19 && strcmp(file + strlen(file) - 19, "standard_macros.upc") == 0);
    CHECK(strcmp(name(), "name") == 0);
    CHECK(strlen(__DATE__) == 11);
    return check_failures;
}
