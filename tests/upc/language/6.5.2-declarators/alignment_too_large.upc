// A shared object can be aligned to 4096 bytes at most.
__attribute__((aligned(8192))) shared int x;  // error: 'x' is aligned to 8192 bytes
_Alignas(4096) shared int y;
_Alignas(2 * 4096) shared int z[THREADS];     // error: 'z' is aligned to 8192 bytes
shared int w __attribute__((aligned(48)));    // error: the alignment of 'w' is not a power of 2: 48

int main(void) { return 0; }
