// Two initialised definitions of one shared object (C99 6.9.2).
shared int x = 1;
shared int x = 2; // error: (?i)redefin|twice|already

int main(void)
{
    return 0;
}
