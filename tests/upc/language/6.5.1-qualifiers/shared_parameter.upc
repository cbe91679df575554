// A parameter is automatic: not shared (6.5.2).
static int f(shared int x) // error: (?i)shared|parameter
{
    return x;
}

int main(void)
{
    return f(3);
}
