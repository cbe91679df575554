// Threads whose barrier expressions differ end with a message (6.6.1).
// threads: 2 3 4
// abort: barrier
int main(void)
{
    upc_barrier MYTHREAD;
    return 0;
}
