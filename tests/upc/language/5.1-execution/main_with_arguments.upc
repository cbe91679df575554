// main may take argc and argv, on every thread.
#include "check.h"

shared int seen[THREADS];

int main(int argc, char **argv)
{
    seen[MYTHREAD] = argc > 0 && argv[0] != NULL && argv[argc] == NULL;
    upc_barrier;
    for (int t = 0; t < THREADS; t++)
        CHECK(seen[t]);
    return check_failures;
}
