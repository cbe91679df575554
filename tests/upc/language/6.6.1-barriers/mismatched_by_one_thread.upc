// One thread with another expression is enough (6.6.1).
// threads: 2 3 4
// abort: (barrier|notify|wait)
int main(void)
{
    upc_barrier 1;
    upc_notify MYTHREAD == THREADS - 1 ? 5 : 6;
    upc_wait;
    return 0;
}
