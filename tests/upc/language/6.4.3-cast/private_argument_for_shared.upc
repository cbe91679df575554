// A private pointer is no argument where a pointer to shared is wanted (6.4.3).
static int first(shared int *p)
{
    return *p;
}

int main(void)
{
    int x = 3;
    return first(&x); // error: .*
}
