// Shared objects are initialised before any thread enters main (5.1.2.1).
#include "check.h"

shared int answer = 42;
shared double ratio = 2.5;
shared [] int primes[5] = {2, 3, 5, 7, 11};
shared [] char word[6] = "hello";

int main(void)
{
    CHECK_EQ(answer, 42);
    CHECK(ratio == 2.5);
    CHECK(primes[0] == 2 && primes[1] == 3 && primes[2] == 5 && primes[3] == 7 && primes[4] == 11);
    CHECK(word[0] == 'h' && word[4] == 'o' && word[5] == 0);
    return check_failures;
}
