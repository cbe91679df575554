/* Definitions of before 1989. */
int printf(const char *, ...);

typedef long word;

static word apply(function, count, values)
    word (*function)(word, word);
    int count;
    register word *values;
{
    word result = 0;
    while (count-- > 0)
        result = function(result, *values++);
    return result;
}

static word mix(a, b) word a, b; { return a * 31 + b; }

int main(argc, argv)
    int argc;
    char **argv;
{
    word values[] = { 1, 2, 3 };
    printf("%ld %d\n", apply(mix, 3, values), argc > 0 && argv[0][0] != 0);
    return 0;
}
