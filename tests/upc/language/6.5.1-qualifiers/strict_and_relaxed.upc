// strict and relaxed exclude each other (6.5.1.1).
strict relaxed shared int x; // error: (?i)strict|relaxed

int main(void)
{
    return 0;
}
