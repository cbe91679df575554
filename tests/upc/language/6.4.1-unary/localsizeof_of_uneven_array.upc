// upc_localsizeof is at least what the thread with most elements holds (6.4.1.1).
// environment: static
#include "check.h"

shared [3] short uneven[10];

int main(void)
{
    int most = 0;
    for (int t = 0; t < THREADS; t++) {
        int mine = 0;
        for (int i = 0; i < 10; i++)
            mine += i / 3 % THREADS == t;
        most = mine > most ? mine : most;
    }
    CHECK(upc_localsizeof(uneven) >= most * sizeof(short));
    CHECK(upc_localsizeof(shared [3] short[10]) >= most * sizeof(short));
    return check_failures;
}
