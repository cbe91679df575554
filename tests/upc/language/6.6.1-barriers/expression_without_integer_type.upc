// The expression of a barrier statement may be assigned to an int: a structure may not (6.6.1).
struct s { int x; };

int main(void)
{
    struct s s = {1};
    upc_barrier s; // error: .*
    return 0;
}
