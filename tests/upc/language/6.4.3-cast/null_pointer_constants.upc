// Any integer constant expression of value 0 is a null pointer constant, and so is one that is cast to void * (C11 6.3.2.3).
#include "check.h"

enum { NIL, ONE, NONE = ONE - 1 };
#define NOTHING (sizeof(int) - sizeof(unsigned))

shared int x;
shared int *p = NIL;
shared [] int *shared q = 2 - 2 * ONE;
shared int *several[] = {'\0', &x, (void *)NONE, (long)0.5, !ONE};
struct pair {
    shared void *any;
    int n;
};

static int is_null(shared int *given) { return given == NIL; }
static shared int *none(void) { return NOTHING; }

int main(void)
{
    shared int *r = ONE ? 0 : 1;
    struct pair a = {NONE, NONE};
    CHECK(!p && q == 0 && !r && !a.any && !none());
    CHECK(!several[0] && several[1] == &x && !several[2] && !several[3] && !several[4]);
    CHECK(is_null(ONE - 1) && is_null((void *)(1 - 1)) && is_null((int)NIL) && !is_null(&x));
    r = &x;
    CHECK(r != NIL && NIL != r && !(r == 0u * 7));
    CHECK((x ? r : NIL) == (shared void *)(1 - 1));
    r = x == 0 ? '\0' : r;
    CHECK((shared [4] double *)NONE == (shared void *)(1 - 1));
    return check_failures;
}
