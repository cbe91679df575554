// upc_threadof takes pointers to shared, no private ones (7.2.3).
#include <upc.h>

int main(void)
{
    int x = 0;
    return (int)upc_threadof(&x); // error: .*
}
