// The operators are for complete types, as sizeof; what one element and a block are is known without the number of elements
// (6.4.1.2).
extern shared int cyclic[];
extern shared [] int at_once[];
extern shared [3] int blocked[];

int main(void)
{
    int a = upc_localsizeof(cyclic); // error: incomplete
    a += upc_localsizeof(blocked); // error: incomplete
    a += upc_localsizeof(at_once); // error: incomplete
    return a + upc_elemsizeof(blocked) + upc_blocksizeof(blocked);
}
