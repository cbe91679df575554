// relaxed, shared, strict and the upc_ statements are keywords, not names (6.2).
int main(void)
{
    int shared = 1; // error: .*
    return shared;
}
