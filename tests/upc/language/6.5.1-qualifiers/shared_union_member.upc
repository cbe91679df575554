// Unions as structures: a shared pointer is not a member (6.5.1.1).
union either {
    int a;
    int *shared b; // error: (?i)shared|member
};

int main(void)
{
    return 0;
}
