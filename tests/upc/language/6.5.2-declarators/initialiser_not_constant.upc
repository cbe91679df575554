// The initialiser of a shared object is constant, as for any object of static storage duration (C99 6.7.8).
int n = 3;
shared int x = n; // error: (?i)constant

int main(void)
{
    return 0;
}
