// A shared object is not automatic (6.5.2).
int main(void)
{
    shared int x; // error: (?i)shared|automatic|static
    return 0;
}
