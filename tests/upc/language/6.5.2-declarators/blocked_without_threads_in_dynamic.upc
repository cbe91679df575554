// A block size as large as the array makes no difference: THREADS is needed with dynamic THREADS (6.5.2.1).
// environment: dynamic
shared [10] int a[10]; // error: THREADS

int main(void)
{
    return 0;
}
