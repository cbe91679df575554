// A structure does not cast to a pointer to shared (C99 6.5.4).
struct s { int x; };

int main(void)
{
    struct s s = {1};
    shared int *p = (shared int *)s; // error: .*
    return p != 0;
}
