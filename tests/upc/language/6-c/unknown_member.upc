// A structure has the members it declares (C99 6.5.2.3).
shared struct { int a; } s;

int main(void)
{
    return s.b; // error: 'shared struct \{...\}' has no member 'b'
}
