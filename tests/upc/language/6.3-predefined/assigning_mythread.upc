// MYTHREAD is a value, not an object (6.3.2).
int main(void)
{
    MYTHREAD++; // error: (?i)lvalue|assign|MYTHREAD
    return 0;
}
