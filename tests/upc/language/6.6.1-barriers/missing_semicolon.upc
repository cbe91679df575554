// The statement ends with a semicolon (6.6.1).
int main(void)
{
    upc_barrier // error: ;
    return 0;
}
