extern shared int counter;
extern shared[3] double values[6 * THREADS];
extern shared int* shared pointer;
extern shared[] int other_table[3];
void set_value(int block, double value);
void bump(void);
