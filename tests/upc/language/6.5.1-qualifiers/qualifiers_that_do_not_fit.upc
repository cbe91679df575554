// restrict is for pointers, strict for shared types, a layout is an integer, and C11's _Atomic is not UPC's (6.5.1, C99 6.7.3).
restrict shared int x; // error: restrict
shared int *restrict good;
strict int f(void); // error: strict
strict shared int *g(void);
shared ["a"] int a[THREADS]; // error: integer
_Atomic shared int counter; // error: upc_atomic
shared _Atomic int other; // error: upc_atomic

int main(void)
{
    return good == g();
}
