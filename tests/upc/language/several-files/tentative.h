shared int common[THREADS];
shared double total;
int sum_of_common(void);
shared int* where_common(void);
