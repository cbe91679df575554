// sizeof is for types with a size: neither void nor functions (6.4.1.1, C99 6.5.3.4).
static void *p;
static int f(void) { return 1; }

int main(void)
{
    int a = sizeof(void); // error: sizeof
    a += sizeof(*p); // error: sizeof
    a += sizeof(f); // error: sizeof
    a += sizeof(shared void); // error: sizeof
    return a + sizeof(f()) + sizeof(&f) + sizeof(p) + f();
}
