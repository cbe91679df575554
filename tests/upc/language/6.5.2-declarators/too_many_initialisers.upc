// No more initialisers than elements (C99 6.7.8).
shared [] int a[2] = {1, 2, 3}; // error: .*

int main(void)
{
    return 0;
}
