// An integer that is not the constant 0 does not become a pointer to shared (6.4.3).
int main(int argc, char **argv)
{
    (void)argv;
    shared int *p = (shared int *)argc; // error: .*
    return p != 0;
}
