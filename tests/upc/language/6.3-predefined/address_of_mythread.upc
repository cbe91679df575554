// MYTHREAD has no address (6.3.2).
int main(void)
{
    const int *p = &MYTHREAD; // error: (?i)lvalue|address|MYTHREAD
    return *p;
}
