// upc_localsizeof applies to shared operands only (6.4.1.1).
int main(void)
{
    return (int)upc_localsizeof(double); // error: (?i)shared
}
