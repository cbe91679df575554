// upc_fence takes no expression (6.6.1).
int main(void)
{
    upc_fence 3; // error: .*
    return 0;
}
