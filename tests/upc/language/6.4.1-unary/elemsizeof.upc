// upc_elemsizeof: the size of the highest-level type that is not an array (6.4.1.3).
#include "check.h"

struct record { char name[12]; double value; };
typedef int row[8];
shared char c;
shared [2] double vector[2 * THREADS];
shared int matrix[THREADS][5][3];
shared struct record records[THREADS];
shared row rows[THREADS];

int main(void)
{
    CHECK_EQ(upc_elemsizeof(c), 1);
    CHECK_EQ(upc_elemsizeof(vector), sizeof(double));
    CHECK_EQ(upc_elemsizeof(matrix), sizeof(int));
    CHECK_EQ(upc_elemsizeof(matrix[0]), sizeof(int));
    CHECK_EQ(upc_elemsizeof(matrix[0][0][0]), sizeof(int));
    CHECK_EQ(upc_elemsizeof(records), sizeof(struct record));
    CHECK_EQ(upc_elemsizeof(rows), sizeof(int));
    CHECK_EQ(upc_elemsizeof(shared [4] short[8 * THREADS]), sizeof(short));
    CHECK(_Generic(upc_elemsizeof(c), __typeof__(sizeof(int)): 1, default: 0));
    return check_failures;
}
