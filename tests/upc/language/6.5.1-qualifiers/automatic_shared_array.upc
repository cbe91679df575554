// A shared array is not automatic either, in an inner block or not (6.5.2).
int main(void)
{
    {
        shared [2] int a[2 * THREADS]; // error: (?i)shared|automatic|static
    }
    return 0;
}
