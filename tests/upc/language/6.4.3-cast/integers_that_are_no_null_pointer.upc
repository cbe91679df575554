// Only a constant expression of value 0 becomes a pointer to shared: another integer does not, nor a constant that is not 0 (6.4.3).
enum { NIL, ONE };

shared int *p = ONE;  // error: not a pointer-to-shared

int main(void)
{
    int zero = 0;
    p = zero;                    // error: not a pointer-to-shared
    p = 0 * zero;                // error: not a pointer-to-shared
    p = (zero, NIL);             // error: not a pointer-to-shared
    p = 0.0;                     // error: not a pointer-to-shared
    return p == ONE;             // error: not a pointer-to-shared
}
