/* The test interface of the recording library. It has two PEs: the program is PE 0; PE 1 is a
 * second copy of the symmetric heap. */
#ifndef STUB_H
#define STUB_H
#include <shmem.h>

enum { stub_most_arguments = 12 };
struct stub_call {
  const char* name;
  int count;
  uint64_t arguments[stub_most_arguments]; /* as numbers */
};

/* The return value of functions that are only recorded. */
extern uint64_t stub_result;
/* Called within a put with signal, unless null. */
extern void (*stub_while_signalling)(void);

void stub_record(const char* name, const uint64_t* arguments, int count);
int stub_calls(void); /* since the last stub_clear() */
const struct stub_call* stub_call(int index);
void stub_clear(void);
/* Teams: the two PEs in reverse order, PE 1 alone, and both PEs where the library cannot translate
 * the second one's number. */
extern shmem_team_t stub_team_reversed, stub_team_of_one, stub_team_untold;
/* Returns the address of PE 1's copy of an object in the symmetric heap. */
void* stub_remote(const void* object);
#endif
