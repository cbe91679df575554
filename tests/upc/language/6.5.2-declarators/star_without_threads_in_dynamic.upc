// [*] gives a definite block size: THREADS is needed with dynamic THREADS (6.5.2.1).
// environment: dynamic
shared [*] int a[12]; // error: THREADS

int main(void)
{
    return 0;
}
