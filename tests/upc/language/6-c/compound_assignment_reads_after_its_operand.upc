// x op= f() uses the x that f has left: the old value is read when the right operand is known (C99 6.5.16.2).
#include "check.h"

struct record { unsigned low : 9, high : 9; double d; };
shared int x;
shared int a[4 * THREADS];
shared [] struct record r[2];
shared [2] int b[8 * THREADS];
shared [2] int *p = b;
shared [2] int *shared q;

int set_x(int to, int result) { x = to; return result; }
int set_low(int to, int result) { r[1].low = to; return result; }
double set_d(double to, double result) { r[1].d = to; return result; }
int move_p(int to, int result) { p = &b[to]; return result; }
int move_q(int to, int result) { q = &b[to]; return result; }

int main(void)
{
    if (MYTHREAD == THREADS - 1) {
        int n = 0;
        x = 1;
        CHECK_EQ(x += set_x(10, 1), 11);
        CHECK_EQ(x, 11);
        x -= (set_x(5, 0), 2);
        CHECK_EQ(x, 3);
        x *= set_x(4, 2) + set_x(6, 1);
        CHECK(x == 12 || x == 18);
        CHECK_EQ(x += n++, x);
        CHECK_EQ(n, 1);
        a[1] = 2;
        a[1] += a[1] = 7;
        CHECK_EQ(a[1], 14);
        r[1].low = 1;
        r[1].low += set_low(100, 3);
        CHECK_EQ(r[1].low, 103);
        r[1].d /= set_d(9.0, 2.0);
        CHECK(r[1].d == 4.5);
        p += move_p(3, 2);
        CHECK(p == &b[5]);
        p -= move_p(7, 4);
        CHECK(p == &b[3] && upc_phaseof(p) == 1);
        q = b;
        q += move_q(2, 3);
        CHECK(q == &b[5] && upc_phaseof(q) == 1);
    }
    return check_failures;
}
