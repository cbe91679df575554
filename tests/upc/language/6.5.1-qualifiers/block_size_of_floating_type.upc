// A block size is of integer type (6.5.1.1).
shared [2.5] int *p; // error: (?i)integer|constant|block|layout

int main(void)
{
    return 0;
}
