// A const shared object is not assigned (C99 6.5.16).
const shared int limit = 3;

int main(void)
{
    limit = 4; // error: (?i)const|read-only|lvalue
    return 0;
}
