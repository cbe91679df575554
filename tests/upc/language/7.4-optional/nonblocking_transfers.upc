// upc_nb.h with handles: complete after upc_sync (7.4.4).
#include <upc_nb.h>
#include "check.h"

shared [32] int a[32 * THREADS], b[32 * THREADS];

int main(void)
{
    int next = (MYTHREAD + 1) % THREADS, out[32], in[32];
    for (int i = 0; i < 32; i++)
        out[i] = 100 * MYTHREAD + i;
    upc_handle_t put = upc_memput_nb(&a[32 * next], out, sizeof out);
    upc_sync(put);
    upc_barrier;
    upc_handle_t get = upc_memget_nb(in, &a[32 * MYTHREAD], sizeof in);
    upc_handle_t copy = upc_memcpy_nb(&b[32 * next], &a[32 * MYTHREAD], 16 * sizeof(int));
    upc_handle_t set = upc_memset_nb(&b[32 * next + 16], 0, 16 * sizeof(int));
    upc_sync(copy);
    while (!upc_sync_attempt(get))
        ;
    upc_sync(set);
    upc_sync(UPC_COMPLETE_HANDLE);
    CHECK(upc_sync_attempt(UPC_COMPLETE_HANDLE));
    int writer = (MYTHREAD + THREADS - 1) % THREADS, before = (MYTHREAD + 2 * THREADS - 2) % THREADS;
    for (int i = 0; i < 32; i++)
        CHECK_EQ(in[i], 100 * writer + i);
    upc_barrier;
    for (int i = 0; i < 32; i++)
        CHECK_EQ(b[32 * MYTHREAD + i], i < 16 ? 100 * before + i : 0);
    return check_failures;
}
