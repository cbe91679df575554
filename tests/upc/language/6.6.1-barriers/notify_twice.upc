// A upc_notify is followed by a upc_wait, not by another upc_notify (6.6.1).
// abort: upc_notify
int main(void)
{
    upc_notify;
    upc_notify;
    return 0;
}
