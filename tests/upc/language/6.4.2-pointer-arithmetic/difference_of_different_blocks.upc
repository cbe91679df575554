// Pointers of different block sizes are not compatible: no difference (6.4.2, C99 6.5.6).
shared [2] int a[2 * THREADS];
shared [3] int b[3 * THREADS];

int main(void)
{
    return (int)(&a[0] - &b[0]); // error: .*
}
