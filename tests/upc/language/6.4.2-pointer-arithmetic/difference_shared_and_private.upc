// A pointer to shared and a private pointer have no difference (6.4.2).
shared int a[THREADS];
int b[4];

int main(void)
{
    return (int)(&a[0] - &b[0]); // error: .*
}
