// A pointer is no operand of * (C99 6.5.5).
shared int a[THREADS];

int main(void)
{
    shared int *p = a;
    p = p * 2; // error: .*
    return 0;
}
