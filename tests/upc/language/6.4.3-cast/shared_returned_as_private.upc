// A pointer to shared is not returned where a private pointer is declared (6.4.3).
shared int x;

static int *where(void)
{
    return &x; // error: .*
}

int main(void)
{
    return *where();
}
