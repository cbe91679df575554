// A upc_notify is followed by a upc_wait, not by a upc_barrier (6.6.1).
// abort: (upc_notify|upc_barrier)
int main(void)
{
    upc_notify;
    upc_barrier;
    upc_wait;
    return 0;
}
