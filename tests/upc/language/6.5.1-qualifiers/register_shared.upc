// Nor in a register (6.5.2).
int main(void)
{
    register shared int x; // error: (?i)shared|automatic|static|register
    return 0;
}
