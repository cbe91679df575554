/* What the cases have in common. The program is PE 0; what it puts to PE 1 and what the cache does
 * about it is recorded by the stub. */
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
extern char* heap; /* symmetric; nothing of it is cached */

/* Puts the word at the end of the heap, as the first word after a quiet may go at once, and clears
 * what arrived. */
void begin(void);

void expect(int holds, const char* what, int line);
#define EXPECT(condition) expect(condition, #condition, __LINE__)

/* How many calls with this in their name have arrived since stub_clear(). */
int arrived(const char* part);
/* Whether a put that covers the place has. */
int put_arrived(const void* place);
/* A new context of a team. */
shmem_ctx_t made_by(shmem_team_t team);
/* The word as PE 1 has it, and where in the heap one lies. */
long remote_value(const long* word);
long* word_at(size_t offset);
#endif
