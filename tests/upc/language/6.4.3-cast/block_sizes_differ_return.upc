// A return is an assignment: block sizes must agree (6.4.3).
shared [2] int a[2 * THREADS];

static shared int *start(void)
{
    return a; // error: (?i)block|layout|incompatible|cast
}

int main(void)
{
    return *start();
}
