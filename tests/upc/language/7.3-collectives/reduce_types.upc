// The eleven types of upc_all_reduce (7.3.4).
#include <upc_collective.h>
#include "check.h"

#define FLAGS (UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC)
#define TEST(type, letters)                                                                 \
    do {                                                                                    \
        static shared [2] type source[2 * THREADS];                                         \
        static shared type result;                                                          \
        source[2 * MYTHREAD] = (type)(MYTHREAD + 1);                                        \
        source[2 * MYTHREAD + 1] = (type)2;                                                 \
        upc_all_reduce##letters(&result, source, UPC_ADD, 2 * THREADS, 2, NULL, FLAGS);     \
        CHECK(result == (type)(THREADS * (THREADS + 1) / 2 + 2 * THREADS));                 \
        upc_barrier;                                                                        \
        upc_all_reduce##letters(&result, source, UPC_MAX, 2 * THREADS, 2, NULL, FLAGS);     \
        CHECK(result == (type)(THREADS > 2 ? THREADS : 2));                                 \
        upc_barrier;                                                                        \
    } while (0)

int main(void)
{
    TEST(signed char, C);
    TEST(unsigned char, UC);
    TEST(short, S);
    TEST(unsigned short, US);
    TEST(int, I);
    TEST(unsigned, UI);
    TEST(long, L);
    TEST(unsigned long, UL);
    TEST(float, F);
    TEST(double, D);
    TEST(long double, LD);
    return check_failures;
}
