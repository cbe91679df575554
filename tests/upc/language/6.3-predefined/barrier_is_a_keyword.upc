// upc_barrier is a keyword (6.2).
int upc_barrier; // error: .*

int main(void)
{
    return 0;
}
