// The expression of upc_wait must be that of the upc_notify (6.6.1).
// abort: (barrier|notify|wait)
int main(void)
{
    upc_notify 3;
    upc_wait 4;
    return 0;
}
