// Nor by way of a typedef (6.5.2).
typedef shared int shared_int;

int main(void)
{
    shared_int x; // error: (?i)shared|automatic|static
    return 0;
}
