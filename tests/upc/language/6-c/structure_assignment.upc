// Structures are assigned whole: shared to private, private to shared, shared to shared; passed and returned.
#include "check.h"

struct record { char name[20]; double x[3]; int id; };
shared struct record a[2 * THREADS];
shared struct record one;

static struct record made(int id)
{
    struct record r = {"record", {id, id * 2, id * 3}, id};
    return r;
}

static double weight(struct record r) { return r.x[0] + r.x[1] + r.x[2]; }

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    a[t] = made(10 + t);
    CHECK(weight(a[t]) == 6 * (10 + t));
    a[t + THREADS] = a[t];
    struct record r = a[t + THREADS], list[2];
    CHECK_EQ(r.id, 10 + t);
    list[1] = a[t];
    CHECK_EQ(list[1].name[5], 'd');
    shared struct record *p = &a[t];
    r = *p;
    r.id = 99;
    *p = r;
    CHECK_EQ(a[t].id, 99);
    CHECK_EQ((a[t] = made(7)).id, 7);
    CHECK(made(a[t].id).x[2] == 21);
    upc_barrier;
    if (MYTHREAD == THREADS - 1)
        one = a[t + THREADS];
    upc_barrier;
    CHECK_EQ(one.id, 10 + 0);
    return check_failures;
}
