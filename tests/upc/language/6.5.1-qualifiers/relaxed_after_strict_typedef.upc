// Also when one of them comes from a typedef (6.5.1.1).
typedef strict shared int flag;
relaxed flag x; // error: (?i)strict|relaxed

int main(void)
{
    return 0;
}
