/* Cases of the OpenSHMEM contract (docs/semantics-openshmem.md), each a small program that all PEs
 * run together; each PE reports what it finds wrong. */
#ifndef FRONT_H
#define FRONT_H

#include <nearcache/shmem.h>
#include <stdio.h>

extern int me, pes, right, left; /* this PE, their number, its neighbours */
extern long wrong;               /* errors found by this PE */

#define EXPECT(found, expected)                                                            \
  do {                                                                                     \
    const long found_ = (long)(found), expected_ = (long)(expected);                       \
    if (found_ != expected_ && wrong++ < 5)                                                \
      printf("PE %d, %s:%d: %s is %ld, not %ld\n", me, __FILE__, __LINE__, #found, found_, \
             expected_);                                                                   \
  } while (0)

struct front_case {
  const char* name;
  void (*run)(void);
};
extern const struct front_case write_cases[], order_cases[], memory_cases[], api_cases[];

/* Returns the counters of this process; all zero without Nearcache. */
nearcache_stats counted(void);

#endif
