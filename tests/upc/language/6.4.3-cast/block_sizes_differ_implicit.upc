// Pointers of different block sizes are incompatible: an assignment needs a cast (6.4.3, 6.5.1.1).
shared [2] int a[2 * THREADS];

int main(void)
{
    shared [3] int *p;
    p = a; // error: (?i)block|layout|incompatible|cast
    return p != 0;
}
