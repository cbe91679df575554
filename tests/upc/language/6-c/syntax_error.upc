// A syntax error is told with its line.
shared int a[THREADS];

int main(void)
{
    a[0] = (3 + ; // error: .*
    return 0;
}
