// Nor by way of a typedef (6.5.1.1).
typedef shared int shared_int;
struct record {
    shared_int b; // error: (?i)shared|member
};

int main(void)
{
    return 0;
}
