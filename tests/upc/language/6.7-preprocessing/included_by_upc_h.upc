// Programs written for Berkeley UPC and GUPC use what their <upc.h> includes.
#include <upc.h>

static int by_value(const void *a, const void *b)
{
    return *(const int *) a - *(const int *) b;
}

int main(void)
{
    int64_t number = 7;
    char text[] = "%" PRId64;
    int *values = malloc(2 * sizeof *values);
    struct timeval time = {1, 2};
    values[0] = abs(-2);
    values[1] = rand() <= RAND_MAX;
    qsort(values, 2, sizeof *values, by_value);
    if (number != 7 || text[0] != '%' || time.tv_sec != 1 || values[0] != 1 || values[1] != 2)
        exit(EXIT_FAILURE);
    free(values);
    return EXIT_SUCCESS;
}
