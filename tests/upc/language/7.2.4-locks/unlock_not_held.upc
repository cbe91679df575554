// upc_unlock of a lock that nobody holds ends the program with a message (7.2.4).
// abort: upc_unlock
#include <upc.h>

int main(void)
{
    upc_lock_t *lock = upc_all_lock_alloc();
    upc_unlock(lock);
    return 0;
}
