// A bit-field has no address (C99 6.5.3.2).
struct flags { unsigned low : 3; };
shared struct flags f;

int main(void)
{
    return &f.low != 0; // error: (?i)bit-?field|address
}
