// An argument is an assignment: block sizes must agree (6.4.3).
shared [] int a[4];

static int first(shared [4] int *p)
{
    return *p;
}

int main(void)
{
    return first(a); // error: (?i)block|layout|incompatible|cast
}
