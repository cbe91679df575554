// A thread that returns a value other than 0 from main makes the whole program end with a status other than 0 (5.1.2.2).
// exit: 1
int main(void)
{
    upc_barrier;
    return 1;
}
