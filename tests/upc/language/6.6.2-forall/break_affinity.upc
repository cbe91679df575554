// Only `continue` is a keyword affinity (6.6.2).
int main(void)
{
    upc_forall (int i = 0; i < 4; i++; break) // error: .*
        ;
    return 0;
}
