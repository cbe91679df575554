/* What the cache does to a program's calls, seen from below: each case makes a few OpenSHMEM calls
 * and checks what reached the library.
 *
 *     cases <name>     prints `ok <name>`, or lines `FAILED <name>: <what>`
 *     cases list       prints the names */
#include "cases.h"

#include <stdio.h>
#include <string.h>

char* heap;
static const char* running;
static int failures;

void expect(int holds, const char* what, int line) {
  if (holds) return;
  printf("FAILED %s: %s (line %d)\n", running, what, line);
  failures++;
}

int arrived(const char* part) {
  int found = 0;
  for (int i = 0; i < stub_calls(); i++) found += strstr(stub_call(i)->name, part) != NULL;
  return found;
}

int put_arrived(const void* place) {
  for (int i = 0; i < stub_calls(); i++) {
    const struct stub_call* record = stub_call(i);
    if (!strstr(record->name, "putmem")) continue;
    const uint64_t* arguments = record->arguments + (strstr(record->name, "ctx_") ? 1 : 0);
    const uint64_t at = (uint64_t)(uintptr_t)place;
    if (at >= arguments[0] && at < arguments[0] + arguments[2]) return 1;
  }
  return 0;
}

shmem_ctx_t made_by(shmem_team_t team) {
  shmem_ctx_t ctx;
  if (shmem_team_create_ctx(team, 0, &ctx) != 0) EXPECT(0 && "shmem_team_create_ctx");
  return ctx;
}

long remote_value(const long* word) { return *(const long*)stub_remote(word); }

void begin(void) {
  shmem_quiet();
  shmem_long_p(word_at(heap_bytes - 64), 1, 1);
  stub_clear();
}

long* word_at(size_t offset) { return (long*)(heap + offset); }

static const struct stub_case* const groups[] = {hinted_cases, order_cases,  since16_cases,
                                                 team_cases,   thread_cases, unordered_cases};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "list";
  const struct stub_case* found = NULL;
  int threaded = 0, provided = 0;
  for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
    for (const struct stub_case* c = groups[g]; c->name; c++) {
      if (strcmp(name, "list") == 0) puts(c->name);
      if (strcmp(name, c->name) != 0) continue;
      found = c;
      threaded = groups[g] == thread_cases;
    }
  }
  if (!found) return strcmp(name, "list") == 0 ? 0 : 2;
  running = found->name;
  if (threaded) {
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  } else {
    shmem_init();
  }
  heap = shmem_malloc(heap_bytes);
  found->run();
  shmem_finalize();
  if (!failures) printf("ok %s\n", running);
  return failures != 0;
}
