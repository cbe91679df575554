// A private pointer does not become a pointer to shared, not even by a cast (6.4.3).
int x;

int main(void)
{
    shared int *p = (shared int *)&x; // error: (?i)shared
    return p != 0;
}
