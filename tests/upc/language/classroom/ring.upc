// A token goes around the ring of threads, by strict flags.
#include <upc_relaxed.h>
#include "check.h"

shared int token;
strict shared int turn;

int main(void)
{
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        int my_turn = round * THREADS + MYTHREAD;
        while (turn != my_turn)
            ;
        token = token + MYTHREAD + 1;
        turn = my_turn + 1;
    }
    upc_barrier;
    CHECK_EQ(token, ROUNDS * THREADS * (THREADS + 1) / 2);
    CHECK_EQ(turn, ROUNDS * THREADS);
    return check_failures;
}
