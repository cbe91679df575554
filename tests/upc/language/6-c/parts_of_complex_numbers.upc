// The parts of a complex number are objects, of private and of shared ones (GNU C).
#include <complex.h>
#include "check.h"

shared double _Complex z[THREADS];
shared [2] float _Complex pairs[2 * THREADS];

int main(void)
{
    int t = (MYTHREAD + 1) % THREADS;
    double _Complex own = 1, copy;
    shared double _Complex *p = &z[t];
    double *imaginary = &__imag__ own;
    __real__ own = 3;
    __imag__ own += 2;
    ++__real__ own;
    CHECK(creal(own) == 4 && cimag(own) == 2 && *imaginary == 2);
    *p = own;
    __imag__ *p = 5;
    __real__ z[t] += 2;
    CHECK((__imag__ z[t])++ == 5);
    copy = *p;
    CHECK(creal(copy) == 6 && cimag(copy) == 6);
    CHECK(__imag__ z[t] / 4 == 1.5 && sizeof __imag__ z[t] == sizeof(double));
    *&__imag__ pairs[2 * t + 1] = 7;
    CHECK(crealf(pairs[2 * t + 1]) == 0 && cimagf(pairs[2 * t + 1]) == 7);
    CHECK(upc_threadof(&__imag__ pairs[2 * t + 1]) == (size_t) t);
    return check_failures;
}
