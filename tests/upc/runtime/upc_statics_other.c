#include "check.h"

NCUPC_TENTATIVE ncupc_ptr common;
extern ncupc_ptr counter;
ncupc_ptr elsewhere;
static ncupc_ptr own; /* not the variable in upc_statics.c */
void check_other_file(void);

static void place(void) {
  ncupc_place(&own, "own", sizeof(int), 1, 1, NCUPC_HERE);
  ncupc_place(&common, "common", sizeof(int), 10 * (size_t)THREADS, 4, NCUPC_HERE);
  ncupc_place(&elsewhere, "elsewhere", sizeof(double), 5, 1, NCUPC_HERE);
}
static void initialise(void) {
  const double five[] = {0.25, 1.25, 2.25, 3.25, 4.25};
  ncupc_fill(elsewhere, five, 5, sizeof(double), 5, 1);
  const int first[] = {42};
  ncupc_fill(own, first, 1, sizeof(int), 1, 1);
}
NCUPC_MODULE("upc_statics_other.c", place, initialise);

void check_other_file(void) {
  for (int i = 0; i < 10 * THREADS; ++i)
    CHECK(NCUPC_GET(int, ncupc_add(common, i, sizeof(int), 4)) == 7 * i, "common[%d]", i);
  CHECK(NCUPC_GET(int, own) == 42);
  CHECK(NCUPC_GET(long, counter) == 0);
  if (failures != 0) exit(1);
}
