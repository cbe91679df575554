// strict qualifies shared types only (6.5.1.1).
strict int x; // error: (?i)strict|shared

int main(void)
{
    return x;
}
