// Only functions are called (C99 6.5.2.2).
shared int x;

int main(void)
{
    return x(3); // error: .*
}
