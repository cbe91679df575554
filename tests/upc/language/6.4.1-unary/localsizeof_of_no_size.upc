// The operators are for complete types, as sizeof; what one element and a block are is known without the number of elements
// (6.4.1.2).
extern shared int cyclic[];
extern shared [] int at_once[];
extern shared [3] int blocked[];
struct unknown;
extern shared struct unknown object;

int main(void)
{
    int a = upc_localsizeof(cyclic); // error: incomplete
    a += upc_localsizeof(blocked); // error: incomplete
    a += upc_localsizeof(at_once); // error: incomplete
    a += upc_blocksizeof(object); // error: incomplete
    a += upc_elemsizeof(object); // error: incomplete
    return a + upc_elemsizeof(blocked) + upc_blocksizeof(blocked);
}
