// The value of an expression has no address (C99 6.5.3.2).
shared int x;

int main(void)
{
    return &(x + 1) != 0; // error: (?i)lvalue|address
}
