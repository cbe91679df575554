// A pointer that is itself shared is a shared object: not automatic (6.5.2).
int main(void)
{
    shared int *shared p; // error: (?i)shared|automatic|static
    return 0;
}
