// One layout in a list of qualifiers, also through typedefs (6.5.2).
typedef shared [2] int pairs;
shared [3] pairs a[6 * THREADS]; // error: (?i)layout|block|already
shared [1] pairs b[THREADS]; // error: already
shared pairs c[2 * THREADS];
shared [2] pairs d[2 * THREADS];

int main(void)
{
    return 0;
}
