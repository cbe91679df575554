// With dynamic THREADS a shared array of definite block size needs THREADS in a dimension (6.5.2.1).
// environment: dynamic
shared int a[10]; // error: THREADS

int main(void)
{
    return 0;
}
