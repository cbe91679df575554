// A block size is a constant (6.5.1.1).
int n = 4;
shared [n] int *p; // error: (?i)constant|block|layout

int main(void)
{
    return 0;
}
