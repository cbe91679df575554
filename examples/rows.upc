/* SPDX-License-Identifier: BSD-3-Clause */
/* UPC: each thread reads its neighbour's block element by element. The cache fetches
 * whole lines and reads ahead.
 *   upcc -O2 rows.upc -o rows
 *   upcrun -n 2 --report - ./rows */
#include <stdio.h>
#include <upc_relaxed.h>

#define ENTRIES 20000
shared [ENTRIES] long row[ENTRIES * THREADS];

int main(void) {
  const int owner = (MYTHREAD + 1) % THREADS;
  for (int i = 0; i < ENTRIES; i++) row[MYTHREAD * ENTRIES + i] = MYTHREAD * ENTRIES + i;
  upc_barrier; /* all rows are filled */

  long sum = 0;
  for (int i = 0; i < ENTRIES; i++) sum += row[owner * ENTRIES + i];
  printf("mean of thread %d: %.1f\n", owner, (double)sum / ENTRIES);
  upc_barrier;
  return 0;
}
