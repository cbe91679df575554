// An array is not assigned (C99 6.5.16).
shared int a[THREADS], b[THREADS];

int main(void)
{
    a = b; // error: .*
    return 0;
}
