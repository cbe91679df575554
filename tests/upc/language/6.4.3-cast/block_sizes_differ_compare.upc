// Pointers of different block sizes do not compare without a cast (6.4.2, 6.4.3).
shared [2] int a[2 * THREADS];
shared [3] int b[3 * THREADS];

int main(void)
{
    return &a[0] < &b[0]; // error: block sizes
}
