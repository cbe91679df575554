// A shared object is no operand of asm, and a pointer to shared chooses no case (C99 6.8.4.2).
shared int s;
shared int *p;

int main(void)
{
    int n = 2;
    __asm__("" : "+r"(s)); // error: asm
    __asm__("" : [s] "+r"(n));
    switch (p) { // error: switch
    default:
        return n;
    }
}
