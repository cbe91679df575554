// With dynamic THREADS an array of indefinite block size has a constant size: all of it lies with one thread (6.5.2.1).
// environment: dynamic
shared [] int a[THREADS]; // error: (?i)THREADS

int main(void)
{
    return 0;
}
