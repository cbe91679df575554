// * needs a pointer (C99 6.5.3.2).
shared int x;

int main(void)
{
    return *x; // error: .*
}
