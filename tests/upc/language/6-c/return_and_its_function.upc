// A function with a result returns one, a function without none (C99 6.8.6.4).
static int with(int n)
{
    if (n > 3)
        return; // error: return
    return n;
}

static void without(int n)
{
    if (n > 3)
        return n; // error: return
    return;
}

int main(void)
{
    without(2);
    if (with(2) == 1)
        return;
    return 0;
}
