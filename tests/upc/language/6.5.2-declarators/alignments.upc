// Static shared objects are aligned as their types, _Alignas and attributes ask for, on every thread (C11 6.7.5).
#include "check.h"
#define UPTO(n) __attribute__((__aligned__(n)))

typedef float vector __attribute__((vector_size(32), aligned(32)));
typedef int alone UPTO(128);
typedef char row[3] UPTO(64);
typedef shared int *pointer UPTO(32);
struct wide {
    _Alignas(256) char c;
    int i;
};
struct outer {
    struct wide w;
};
enum { LINE = 64 };

shared char between = 'b';
shared vector v;
shared char again;
shared vector several[2 * THREADS];
shared [2] struct wide w[2 * THREADS];
shared char more;
shared struct outer o;
shared char and_more;
shared alone a;
UPTO(64) shared int al[THREADS];
shared char yet_more;
shared int behind UPTO(4 * LINE), page UPTO(4096);
_Alignas(512) shared int by_word;
shared char last;
_Alignas(struct wide) _Alignas(LINE / 2) shared [] char by_type[3] = "ab";
shared char c0;
shared char both __attribute__((aligned(1 << 5))) UPTO(128);
extern shared char declared UPTO(1024);
shared char c1;
shared char declared;
shared char c2;
shared [] row r;
shared char c3;
shared pointer p;
shared char c4;
shared char biggest __attribute__((aligned));

#define MULTIPLE(object, of) CHECK_EQ((unsigned long)&(object) % (of), 0)
#define OF_SHARED(object, of) CHECK_EQ(upc_addrfield(&(object)) % (of), 0)

static void in_function(void)
{
    static shared char one;
    static shared int two[THREADS] UPTO(2048);
    OF_SHARED(two[MYTHREAD], 2048);
    two[MYTHREAD] = 5;
    CHECK_EQ(one, 0);
}

int main(void)
{
    OF_SHARED(v, 32);
    OF_SHARED(several[MYTHREAD], 32);
    OF_SHARED(several[THREADS + MYTHREAD], 32);
    OF_SHARED(w[0], 256);
    OF_SHARED(w[2 * MYTHREAD + 1], 256);
    OF_SHARED(o, 256);
    OF_SHARED(a, 128);
    OF_SHARED(al[MYTHREAD], 64);
    OF_SHARED(behind, 256);
    OF_SHARED(page, 4096);
    OF_SHARED(by_word, 512);
    OF_SHARED(by_type, 256);
    OF_SHARED(both, 128);
    OF_SHARED(declared, 1024);
    OF_SHARED(r, 64);
    OF_SHARED(p, 32);
    OF_SHARED(biggest, __BIGGEST_ALIGNMENT__);
    MULTIPLE(*(int *)&al[MYTHREAD], 64);
    MULTIPLE(*(vector *)&several[MYTHREAD], 32);
    in_function();
    if (MYTHREAD == 0)
        v = (vector){1, 2, 3, 4, 5, 6, 7, 8};
    upc_barrier;
    vector copy = v;
    CHECK(copy[7] == 8 && between == 'b' && by_type[1] == 'b');
    return check_failures;
}
