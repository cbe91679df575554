// The affinity is an integer or a pointer to shared, not of floating type (6.6.2).
int main(void)
{
    upc_forall (int i = 0; i < 4; i++; 1.5) // error: (?i)affinity
        ;
    return 0;
}
