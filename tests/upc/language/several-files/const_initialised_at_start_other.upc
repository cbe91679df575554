#include "const_initialised_at_start.h"

int in_other_file(void)
{
    return place == &x && places[0].n == 1 && processes == THREADS && single.one == place;
}
