// One shared qualifier says the layout; two with different ones contradict each other (6.5.2).
shared [2] shared [3] int a[6 * THREADS]; // error: (?i)layout|block|already|shared

int main(void)
{
    return 0;
}
