// An initialiser is an assignment: block sizes must agree (6.4.3).
shared [2] int a[2 * THREADS];

int main(void)
{
    shared int *p = &a[0]; // error: (?i)block|layout|incompatible|cast
    return p != 0;
}
