/* What the tests ask of the recording library. Two PEs: the program is PE 0; PE 1 is a second copy
 * of the symmetric heap. */
#ifndef STUB_H
#define STUB_H
#include <shmem.h>

enum { stub_most_arguments = 12 };
struct stub_call {
  const char* name;
  int count;
  uint64_t arguments[stub_most_arguments]; /* as numbers */
};

/* What a function that is only recorded returns. */
extern uint64_t stub_result;
/* What happens within a put with signal; null: nothing. */
extern void (*stub_while_signalling)(void);

void stub_record(const char* name, const uint64_t* arguments, int count);
int stub_calls(void); /* since the last stub_clear() */
const struct stub_call* stub_call(int index);
void stub_clear(void);
/* Teams of the two PEs in the other order, of PE 1 alone, and of both where the library cannot tell
 * who the second one is. */
extern shmem_team_t stub_team_reversed, stub_team_of_one, stub_team_untold;
/* Where an object of the symmetric heap lies in PE 1. */
void* stub_remote(const void* object);
#endif
