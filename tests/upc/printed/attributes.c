/* C23's attributes, in the places where GCC takes them in earlier C too. */
#include <stdio.h>

[[nodiscard]] static int twice(int n) { return 2 * n; }
struct [[gnu::packed]] packed { char c; int i; };
static int array[3] [[gnu::unused]];
static int with_unused([[maybe_unused]] int a, int b [[maybe_unused]]) { return 3; }

int main(void)
{
    [[maybe_unused]] int unused = 4;
    int n = twice(2);
    switch (n) {
    case 4:
        n++;
        [[fallthrough]];
    case 5:
        n += array[1] + with_unused(1, 2);
    }
    printf("%d %zu\n", n, sizeof(struct packed));
    return 0;
}
