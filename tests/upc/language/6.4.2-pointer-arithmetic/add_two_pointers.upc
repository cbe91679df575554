// Two pointers cannot be added (C99 6.5.6).
shared int a[THREADS];

int main(void)
{
    shared int *p = a;
    p = p + p; // error: .*
    return 0;
}
