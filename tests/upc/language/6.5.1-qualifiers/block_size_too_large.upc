// A block size is at most UPC_MAX_BLOCK_SIZE (6.5.1.1, 6.3.3).
shared [UPC_MAX_BLOCK_SIZE + 1] char *p; // error: (?i)UPC_MAX_BLOCK_SIZE|block|large

int main(void)
{
    return 0;
}
