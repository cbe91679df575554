/* Shared by the cases. The program is PE 0; the stub records what it puts to PE 1 and what the
 * cache does about it. */
#ifndef CASES_H
#define CASES_H
#include <nearcache/shmem.h>

#include "stub.h"

struct stub_case {
  const char* name;
  void (*run)(void);
};
extern const struct stub_case hinted_cases[], order_cases[], since16_cases[], team_cases[],
    thread_cases[], unordered_cases[];

enum { heap_bytes = 256 << 10 };
extern char* heap; /* symmetric; none of it is cached */

/* Puts the word at the end of the heap, because the first word after a quiet may be sent at once,
 * then clears the record of calls that arrived. */
void begin(void);

void expect(int holds, const char* what, int line);
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* Returns how many calls whose names contain `part` have arrived since stub_clear(). */
int arrived(const char* part);
/* Returns whether a put that covers `place` has arrived. */
int put_arrived(const void* place);
/* Creates a context of a team. */
shmem_ctx_t made_by(shmem_team_t team);
/* The word's value at PE 1, and the address of a word in the heap. */
long remote_value(const long* word);
long* word_at(size_t offset);
#endif
