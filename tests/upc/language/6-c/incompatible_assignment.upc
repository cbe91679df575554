// A structure is not assigned to an integer (C99 6.5.16.1).
shared struct { int a; } s;
shared int x;

int main(void)
{
    x = s; // error: .*
    return 0;
}
