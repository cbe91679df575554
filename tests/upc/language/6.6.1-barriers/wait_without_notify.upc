// upc_wait follows a upc_notify (6.6.1).
// abort: upc_wait
int main(void)
{
    upc_barrier;
    upc_wait;
    return 0;
}
