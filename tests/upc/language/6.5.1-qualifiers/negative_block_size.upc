// A block size is not negative (6.5.1.1).
shared [-1] int a[THREADS]; // error: (?i)negative|block|layout

int main(void)
{
    return 0;
}
