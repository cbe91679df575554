// With dynamic THREADS it stands alone or multiplied by a constant; not added (6.5.2.1).
// environment: dynamic
shared int a[10 + THREADS]; // error: (?i)THREADS

int main(void)
{
    return 0;
}
