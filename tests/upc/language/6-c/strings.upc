// String literals: long, adjacent, with escapes, raw (GNU C); arrays of private strings; wide characters.
#include <string.h>
#include <wchar.h>
#include "check.h"

static const char *const words[] = {"one", "two" " and a half", "tab\tquote\" \\ \x41\101", ""};
shared [] char text[] = "shared " "text\n";
shared wchar_t w;
static const char raw[] = R"x("\n)"
'shared)x" "\n";

int main(void)
{
    CHECK_EQ(strlen(words[1]), 14);
    CHECK_EQ(words[2][strlen(words[2]) - 1], 'A');
    CHECK_EQ(sizeof text, 13);
    CHECK_EQ(text[11], '\n');
    CHECK(strcmp(raw, "\"\\n)\"\n'shared\n") == 0);
    w = L'x';
    CHECK_EQ(w, L'x');
    CHECK(strcmp("shared upc_forall /* no comment */", "shared upc_forall " "/* no comment */") == 0);
    return check_failures;
}
