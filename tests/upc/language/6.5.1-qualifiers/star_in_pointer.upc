// [*] needs an array to divide: not in the type a pointer points to (6.5.1.1).
shared [*] int *p; // error: (?i)\[\*\]|layout|pointer|array

int main(void)
{
    return 0;
}
