// What a static shared object of a function names of it must be known outside, where the object is placed and initialised.
extern int from_outside(void);
int x = 3;

int main(void)
{
    static int x, y;
    extern int z;
    int from_outside(void), from_here(void);
    static int *shared p = &x;               // error: 'p' is placed .* 'x', which only its block knows
    static struct { int *q; } shared s = {&y};  // error: 'y', which only its block knows
    static int *shared r = &z;               // error: 'z', which only its block knows
    static int (*shared f)(void) = from_outside;
    static int (*shared g)(void) = from_here;  // error: 'from_here', which only its block knows
    static void *shared h = &&here;          // error: 'here', which only its block knows
here:;
    enum { N = 4 };
    struct aligned {
        int i __attribute__((aligned(4 * N)));
    };
    static shared struct aligned a;          // error: 'N', which only its block knows
#pragma pack(1)
    struct packed {
        char c;
        int i;
    };
    static shared struct packed b;           // error: 'packed', which a pragma in its block lays out
#pragma pack()
    static shared int good = sizeof(struct aligned) + sizeof x + sizeof(struct packed *);
    return p == 0 && !s.q && !r && !f && !g && !h && a.i && b.i && good;
}
