// What is said of THREADS in the sizes of arrays holds for every array type in dynamic THREADS, pointed to as well (6.5.2.1).
// environment: dynamic
shared int (*two)[THREADS][THREADS]; // error: THREADS
shared [] int (*on_one)[THREADS]; // error: THREADS
shared int (*sum)[THREADS + 2]; // error: THREADS
shared int negative[-1 * THREADS]; // error: THREADS
shared int none[THREADS * 0]; // error: THREADS
shared int (*good)[THREADS][3];
shared int (*row)[7];
shared int twice[2 * THREADS];
extern shared int twice[THREADS * 2];
extern shared int twice[THREADS]; // error: (?i)declared

int main(void)
{
    return good == 0 && row == 0;
}
