// A structure's member is not shared; only what a member points to may be (6.5.1.1).
struct record {
    int a;
    shared int b; // error: (?i)shared|member
};

int main(void)
{
    return 0;
}
