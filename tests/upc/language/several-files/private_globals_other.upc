int level = 4;
shared int target = 12;
const char *const names[3] = {"a", "b", "c"};

int raise_level(int by)
{
    level += by;
    return level;
}
