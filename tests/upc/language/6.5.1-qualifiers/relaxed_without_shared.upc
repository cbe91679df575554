// relaxed qualifies shared types only (6.5.1.1).
int main(void)
{
    relaxed int x = 0; // error: (?i)relaxed|shared
    return x;
}
