// THREADS is a value, not an object (6.3.1).
int main(void)
{
    THREADS = 4; // error: (?i)lvalue|assign|THREADS
    return 0;
}
