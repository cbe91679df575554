// A structure is not an affinity (6.6.2).
shared struct { int x; } s;

int main(void)
{
    upc_forall (int i = 0; i < 4; i++; s) // error: (?i)affinity
        ;
    return 0;
}
