// [*] in a typedef is told (6.5.1.1), and taken.
typedef shared [*] int rows[10 * THREADS]; // warning: \[\*\]
rows a;

int main(void)
{
    return a[0];
}
