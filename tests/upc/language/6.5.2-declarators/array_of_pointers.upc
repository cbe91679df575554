// A private array of pointers to shared; a shared array of pointers to shared.
#include <upc.h>
#include "check.h"

shared [] int *private_list[3];
shared [] int *shared directory[THREADS];

int main(void)
{
    for (int i = 0; i < 3; i++) {
        private_list[i] = upc_alloc(2 * sizeof(int));
        private_list[i][1] = 10 * MYTHREAD + i;
    }
    directory[MYTHREAD] = private_list[1];
    upc_barrier;
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(directory[t][1], 10 * t + 1);
        CHECK_EQ(upc_threadof(directory[t]), t);
    }
    upc_barrier;
    for (int i = 0; i < 3; i++)
        upc_free(private_list[i]);
    return check_failures;
}
