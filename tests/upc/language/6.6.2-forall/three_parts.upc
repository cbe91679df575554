// upc_forall has four parts (6.6.2).
int main(void)
{
    upc_forall (int i = 0; i < 4; i++) // error: .*
        ;
    return 0;
}
