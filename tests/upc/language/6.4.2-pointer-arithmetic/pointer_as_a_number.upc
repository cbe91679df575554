// A pointer to shared is not an integer where C needs one, although a packed one is a number in C.
shared int x, *p;
int numbers[4];

int main(void)
{
    x += p; // error: \+= with a pointer-to-shared
    x ^= p; // error: \^= with a pointer-to-shared
    numbers[0] += p; // error: \+= with a pointer-to-shared
    return numbers[p]; // error: subscript
}
