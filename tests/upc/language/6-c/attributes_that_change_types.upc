// Attributes that make a type another: shared objects of it need its name.
#include <upc.h>

typedef int two_words __attribute__((mode(DI)));
typedef const int const_words __attribute__((mode(DI)));
struct members { int words __attribute__((__mode__(DI))); int plain; };
shared int object __attribute__((mode(DI))); // error: has no name here
shared [] int vectors[4] __attribute__((vector_size(16))); // error: has no name here
shared const_words without_const; // error: has no name here
shared two_words named;
const shared two_words constant = 3;
shared struct members members[THREADS];
static struct members mine;

int main(void)
{
    members[0].plain = mine.words;
    members[0].words = 4; // error: has no name here
    named = constant;
    {
        int two_words = 5;
        named = two_words; // error: has no name here
    }
    return members[0].plain;
}
