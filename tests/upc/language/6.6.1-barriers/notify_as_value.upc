// upc_notify is not an expression (6.6.1).
int main(void)
{
    int x = upc_notify; // error: .*
    return x;
}
