// upc_affinitysize: how many bytes of an object of totalsize bytes in blocks of nbytes per thread holds (7.2.3).
#include <upc.h>
#include "check.h"

static size_t counted(size_t total, size_t block, size_t thread)
{
    size_t bytes = 0;
    for (size_t i = 0; i < total; i++)
        bytes += (block ? i / block % THREADS : 0) == thread;
    return bytes;
}

int main(void)
{
    for (size_t block = 0; block <= 9; block++)
        for (size_t total = 0; total <= 60; total++)
            for (size_t t = 0; t < THREADS; t++)
                CHECK_EQ(upc_affinitysize(total, block, t), counted(total, block, t));
    return check_failures;
}
