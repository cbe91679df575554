// A function is not shared.
shared int f(void); // error: (?i)shared|function

int main(void)
{
    return 0;
}
