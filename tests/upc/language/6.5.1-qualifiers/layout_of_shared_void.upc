// The generic pointer has no block size: no layout on void (6.5.1.1).
shared [2] void *p; // error: (?i)void|layout

int main(void)
{
    return 0;
}
