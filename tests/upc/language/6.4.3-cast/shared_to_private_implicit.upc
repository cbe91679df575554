// A pointer to shared becomes a private pointer by a cast only (6.4.3).
shared int x;

int main(void)
{
    int *p = &x; // error: .*
    return *p;
}
