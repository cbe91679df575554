// A call has as many arguments as the prototype has parameters (C99 6.5.2.2).
static int f(shared int *p, int i) { return p[i]; }
shared int a[THREADS];

int main(void)
{
    return f(a); // error: (?i)argument
}
