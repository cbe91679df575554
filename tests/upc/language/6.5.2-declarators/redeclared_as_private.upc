// Two declarations of one object are both shared or both private (C99 6.7).
extern shared int x;
int x; // error: (?i)conflict|redecl|incompatible|shared|different

int main(void)
{
    return 0;
}
