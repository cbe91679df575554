// upc_blocksizeof applies to shared operands only (6.4.1.2).
int private_array[10];

int main(void)
{
    return (int)upc_blocksizeof(private_array); // error: (?i)shared
}
