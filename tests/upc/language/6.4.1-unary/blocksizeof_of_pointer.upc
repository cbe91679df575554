// A private pointer to shared is itself private: no operand of upc_blocksizeof (6.4.1.2).
shared [4] int *p;

int main(void)
{
    return (int)upc_blocksizeof(p); // error: (?i)shared
}
