// A private pointer is not assigned to a pointer to shared (6.4.3).
int x;

int main(void)
{
    shared int *p;
    p = &x; // error: .*
    return p != 0;
}
