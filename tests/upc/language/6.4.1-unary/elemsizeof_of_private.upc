// upc_elemsizeof applies to shared operands only (6.4.1.3).
int main(void)
{
    int x[3] = {0};
    return x[0] + (int)upc_elemsizeof(x); // error: (?i)shared
}
