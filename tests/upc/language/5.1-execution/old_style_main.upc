// Parameters of an old-style main are declared in any order; one that is not declared is an int.
#include "check.h"

shared int seen[THREADS];

int main(argc, argv)
char **argv;
{
    seen[MYTHREAD] = argc > 0 && argv[0] != NULL && argv[argc] == NULL;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK(seen[t]);
    return check_failures;
}
