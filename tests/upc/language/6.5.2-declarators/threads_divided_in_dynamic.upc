// With dynamic THREADS it is not divided (6.5.2.1).
// environment: dynamic
shared int a[12 / THREADS]; // error: (?i)THREADS

int main(void)
{
    return 0;
}
