// Sizes of shared arrays are constant but for THREADS: nothing shared is of variable length, pointed to neither (6.5.2.1).
int f(int n, shared [] int given[n], shared int rows[n][4])
{
    shared [] int (*pointer)[n]; // error: constant
    typedef shared [] int list[n]; // error: constant
    static shared [] int fixed[n]; // error: constant
    static shared [] int half[1.5]; // error: integer
    shared int *good[n];
    return given[0] + rows[0][0];
}

int g(int n, shared [] int given[n][n]) // error: constant
{
    return given[0][0];
}

int h(int n, shared [] int (*given)[n]); // error: not constant: n$

int main(void)
{
    return 0;
}
