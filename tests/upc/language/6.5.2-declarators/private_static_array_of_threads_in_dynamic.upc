// With dynamic THREADS a private array of static storage duration cannot have THREADS elements (C99 6.7.5.2).
// environment: dynamic
static int a[THREADS]; // error: .*

int main(void)
{
    return a[0];
}
