// Shared objects are static, one for all threads, and declared once in a block (6.5.2, C99 6.7).
register shared int in_register; // error: register
_Thread_local shared int of_a_thread; // error: (?i)thread_local
shared void nothing[THREADS]; // error: void

int main(void)
{
    static shared int once;
    static shared int once; // error: twice
    return once;
}
