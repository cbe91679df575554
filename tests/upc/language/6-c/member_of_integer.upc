// Only structures and unions have members (C99 6.5.2.3).
shared int x;

int main(void)
{
    return x.a; // error: .*
}
