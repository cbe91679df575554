/* Static shared data in two files: tentative definitions, extern, static variables of the same
 * name, initial values in all layouts. */
#include "check.h"

NCUPC_TENTATIVE ncupc_ptr common; /* shared [4] int common[10 * THREADS] in both files */
extern ncupc_ptr elsewhere;       /* shared double elsewhere[5] */
ncupc_ptr counter = NCUPC_NULL_INIT;
static ncupc_ptr own, cyclic, blocked, whole;
void check_other_file(void);

static void place(void) {
  ncupc_place(&common, "common", sizeof(int), 10 * (size_t)THREADS, 4, NCUPC_HERE);
  ncupc_place(&counter, "counter", sizeof(long), 1, 1, NCUPC_HERE);
  ncupc_place(&own, "own", sizeof(int), 1, 1, NCUPC_HERE);
  ncupc_place(&cyclic, "cyclic", sizeof(int), 11, 1, NCUPC_HERE);
  ncupc_place(&blocked, "blocked", sizeof(short), 23, 3, NCUPC_HERE);
  ncupc_place(&whole, "whole", sizeof(double), 6, 0, NCUPC_HERE);
}

static void initialise(void) {
  const int first[] = {41};
  ncupc_fill(own, first, 1, sizeof(int), 1, 1);
  const int eleven[11] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
  ncupc_fill(cyclic, eleven, 11, sizeof(int), 11, 1);
  const short some[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  ncupc_fill(blocked, some, sizeof some / sizeof *some, sizeof(short), 23, 3);
  const double six[] = {0, 1.5, 3, 4.5, 6, 7.5};
  ncupc_fill(whole, six, 6, sizeof(double), 6, 0);
}

NCUPC_MODULE("upc_statics.c", place, initialise);

int ncupc_main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  CHECK(NCUPC_GET(int, own) == 41);
  for (int i = 0; i < 11; ++i)
    CHECK(NCUPC_GET(int, ncupc_add(cyclic, i, sizeof(int), 1)) == 10 * i, "cyclic[%d]", i);
  for (int i = 0; i < 23; ++i) {
    CHECK(NCUPC_GET(short, ncupc_add(blocked, i, sizeof(short), 3)) == (i < 19 ? i : 0),
          "blocked[%d]", i);
  }
  for (int i = 0; i < 6; ++i)
    CHECK(NCUPC_GET(double, ncupc_add(whole, i, sizeof(double), 0)) == 1.5 * i, "whole[%d]", i);
  for (int i = 0; i < 5; ++i)
    CHECK(NCUPC_GET(double, ncupc_add(elsewhere, i, sizeof(double), 1)) == i + 0.25,
          "elsewhere[%d]", i);
  for (int i = 0; i < 10 * THREADS; ++i)
    CHECK(NCUPC_GET(int, ncupc_add(common, i, sizeof(int), 4)) == 0, "common[%d]", i);
  NCUPC_BARRIER();
  for (int i = MYTHREAD; i < 10 * THREADS; i += THREADS)
    NCUPC_PUT(int, ncupc_add(common, i, sizeof(int), 4), 7 * i);
  NCUPC_BARRIER();
  check_other_file();
  return verdict();
}
