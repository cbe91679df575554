// upc_atomicdomain_t is a shared type, known without a header: any thread may use a pointer to a domain that another one has stored.
extern upc_atomicdomain_t *counting;
#include <upc_atomic.h>
#include "check.h"

upc_atomicdomain_t *counting;
upc_atomicdomain_t *shared published;
shared upc_atomicdomain_t *same;
shared long sum;

int main(void)
{
    long one = 1, found = 0;
    counting = upc_all_atomicdomain_alloc(UPC_LONG, UPC_ADD | UPC_GET, UPC_ATOMIC_HINT_DEFAULT);
    CHECK(counting != NULL);
    if (MYTHREAD == THREADS - 1)
        published = counting;
    upc_barrier;
    same = published;
    CHECK(same == counting);
    upc_atomic_relaxed(published, NULL, UPC_ADD, &sum, &one, NULL);
    upc_atomic_relaxed(same, NULL, UPC_ADD, &sum, &one, NULL);
    upc_barrier;
    upc_atomic_strict(counting, &found, UPC_GET, &sum, NULL, NULL);
    CHECK_EQ(found, 2 * THREADS);
    upc_barrier;
    upc_all_atomicdomain_free(published);
    return check_failures;
}
