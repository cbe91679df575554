// A private pointer is not an affinity (6.6.2).
int a[4];

int main(void)
{
    upc_forall (int i = 0; i < 4; i++; &a[i]) // error: (?i)affinity
        ;
    return 0;
}
