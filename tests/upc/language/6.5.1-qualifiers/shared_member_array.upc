// Nor is a member an array of shared elements (6.5.1.1).
struct record {
    shared [2] int list[4]; // error: (?i)shared|member
};

int main(void)
{
    return 0;
}
