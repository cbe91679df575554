// The end of the file within a function is an error at the end.
int main(void)
{
    upc_barrier;
    if (MYTHREAD) {
        return 0;
} // error: .*
