// for has three parts (C99 6.8.5).
int main(void)
{
    for (int i = 0; i < 4; i++; i) // error: .*
        ;
    return 0;
}
