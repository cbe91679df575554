// One layout in a list of qualifiers, also through typedefs (6.5.2).
typedef shared [2] int pairs;
shared [3] pairs a[6 * THREADS]; // error: (?i)layout|block|already

int main(void)
{
    return 0;
}
