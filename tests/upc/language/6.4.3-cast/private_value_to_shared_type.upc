// A cast makes nothing shared: the type of the expression is shared already (6.4.3).
shared int s;

int main(void)
{
    int n = 3;
    n = (shared int)s;
    return (shared int)n; // error: shared
}
