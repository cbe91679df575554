// The statement ends with a semicolon (6.6.1).
int main(void)
{
    upc_barrier
    return 0; // error: .*
}
