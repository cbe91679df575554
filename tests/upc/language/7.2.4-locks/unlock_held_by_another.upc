// upc_unlock of a lock that another thread holds ends the program with a message (7.2.4).
// threads: 2 3 4
// abort: upc_unlock
#include <upc.h>

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    if (MYTHREAD == 0)
        upc_lock(lock);
    upc_barrier;
    if (MYTHREAD == 1)
        upc_unlock(lock);
    upc_barrier;
    return 0;
}
