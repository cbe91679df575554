// With dynamic THREADS it occurs in one dimension only (6.5.2.1).
// environment: dynamic
shared int a[THREADS][THREADS]; // error: (?i)THREADS

int main(void)
{
    return 0;
}
