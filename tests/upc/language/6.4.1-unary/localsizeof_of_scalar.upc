// upc_localsizeof of a shared object that is not an array: at least its size (6.4.1.1).
#include "check.h"

struct record { int a; char b[5]; };
shared int scalar;
shared struct record record;

int main(void)
{
    CHECK(upc_localsizeof(scalar) >= sizeof(int));
    CHECK(upc_localsizeof(record) >= sizeof(struct record));
    CHECK(upc_localsizeof(shared double) >= sizeof(double));
    CHECK(_Generic(upc_localsizeof(scalar), __typeof__(sizeof(int)): 1, default: 0));
    return check_failures;
}
