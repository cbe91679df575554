static shared int secret[THREADS];

static int local_only(void) { return 2; }

int other_secret(int thread) { return secret[thread] + local_only() - 2; }
void set_other_secret(int thread, int value) { secret[thread] = value; }
