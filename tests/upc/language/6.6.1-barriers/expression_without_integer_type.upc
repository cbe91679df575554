// The expression of a barrier statement is an int: a structure is none (6.6.1).
struct s { int x; };

int main(void)
{
    struct s s = {1};
    upc_barrier s; // error: .*
    return 0;
}
