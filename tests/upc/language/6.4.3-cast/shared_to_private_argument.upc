// A pointer to shared is no argument where a private pointer is wanted (6.4.3).
#include <string.h>

shared [] char word[8];

int main(void)
{
    return (int)strlen(word); // error: .*
}
