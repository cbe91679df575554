// Two declarations of one object agree in block size (C99 6.7, 6.5.1.1).
extern shared [2] int a[4 * THREADS];
shared [4] int a[4 * THREADS]; // error: (?i)conflict|redecl|incompatible|block|different

int main(void)
{
    return 0;
}
