// What is reached through a pointer to const shared is not assigned (C99 6.5.16).
const shared int limit = 3;
static void set(shared int *p) { *p = 4; }

int main(void)
{
    (void)limit;
    *(&limit) = 4; // error: (?i)const|read-only|lvalue
    set((shared int *)&limit);
    return 0;
}
