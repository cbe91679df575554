// A name must be declared (C99 6.5.1).
shared int x;

int main(void)
{
    x = z; // error: z
    return 0;
}
