/* One misuse of the runtime, by name. Each must end all threads with a message that names the
 * thread and this file's line; except free-at-once and the forked children, which are valid. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static ncupc_ptr variable, second, lock;

static void place(void) {
  ncupc_place(&variable, "variable", sizeof(int), 4, 1, NCUPC_HERE);
  if (getenv("UPC_TEST_PLACE_AGAIN"))
    ncupc_place(&variable, "variable", sizeof(int), 5, 1, NCUPC_HERE);
  const char* alignment = getenv("UPC_TEST_ALIGNMENT");
  if (alignment != NULL) {
    ncupc_place(&second, "second", 1, 1, 1, NCUPC_HERE);
    ncupc_place_aligned(&second, "second", 1, 1, 1, strtoul(alignment, NULL, 10), NCUPC_HERE);
  }
}
NCUPC_MODULE("upc_errors.c", place, NULL);

static void said_goodbye(void) { printf("thread %d: goodbye\n", MYTHREAD); }

static void misuse(const char* what) {
  const int last = MYTHREAD == THREADS - 1;
  if (strcmp(what, "mismatch") == 0) NCUPC_BARRIER_EXPR(last ? 5 : 3);
  if (strcmp(what, "split-mismatch") == 0) {
    NCUPC_NOTIFY_EXPR(last ? 8 : 9);
    NCUPC_WAIT();
  }
  if (strcmp(what, "wait-mismatch") == 0) {
    NCUPC_NOTIFY_EXPR(1);
    NCUPC_WAIT_EXPR(2);
  }
  if (strcmp(what, "wait-first") == 0) NCUPC_WAIT();
  if (strcmp(what, "notify-twice") == 0) {
    NCUPC_NOTIFY();
    NCUPC_NOTIFY();
  }
  if (strcmp(what, "barrier-inside") == 0) {
    NCUPC_NOTIFY();
    NCUPC_BARRIER();
  }
  if (strcmp(what, "free-static") == 0 && last) upc_free(variable);
  if (strcmp(what, "free-middle") == 0 && last) upc_free(ncupc_add_bytes(upc_alloc(100), 32));
  if (strcmp(what, "free-twice") == 0 && last) {
    const ncupc_ptr p = upc_alloc(10);
    upc_free(p);
    upc_free(p);
  }
  if (strcmp(what, "free-global-twice") == 0) {
    const ncupc_ptr p = upc_all_alloc(4, 100);
    NCUPC_BARRIER();
    if (MYTHREAD == 0) upc_free(p);
    NCUPC_BARRIER();
    if (last) upc_free(p);
  }
  if (strcmp(what, "free-at-once") == 0 && last) upc_free(upc_global_alloc((size_t)THREADS, 100));
  if (strcmp(what, "exhaust-local") == 0 && last) {
    for (;;) (void)upc_alloc(1000000);
  }
  if (strcmp(what, "exhaust-global") == 0 && last) {
    (void)upc_global_alloc((size_t)THREADS, (size_t)1 << 30);
  }
  if (strcmp(what, "unlock") == 0 && last) upc_unlock(lock);
  if (strcmp(what, "lock-twice") == 0 && last) {
    upc_lock(lock);
    upc_lock(lock);
  }
  if (strcmp(what, "lock-null") == 0 && last) upc_lock(NCUPC_NULL);
  if (strcmp(what, "long-name") == 0 && last) {
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ncupc_error(NCUPC_HERE, name, "the reason");
  }
  if (strcmp(what, "null") == 0 && last) (void)NCUPC_GET(int, ncupc_make(0, 0, 0));
  if (strcmp(what, "null-write") == 0 && last) NCUPC_PUT(int, ncupc_make(24, 0, 0), 1);
  if (strcmp(what, "null-strict") == 0 && last) (void)NCUPC_GET_STRICT(int, ncupc_make(8, 0, 0));
  if (strcmp(what, "null-memget") == 0 && last) upc_memget((char[64]){0}, ncupc_make(0, 0, 0), 64);
  if (strcmp(what, "null-nb-get") == 0 && last)
    upc_sync(upc_memget_nb((char[64]){0}, ncupc_make(0, 0, 0), 64));
  if (strcmp(what, "null-nb-put") == 0 && last)
    upc_sync(upc_memput_nb(ncupc_make(0, 0, 0), (char[64]){0}, 64));
  if (strcmp(what, "global-exit") == 0 && last) upc_global_exit(7);
  if (strcmp(what, "exit-alone") == 0 && last) exit(6);
  if (strcmp(what, "return-early") == 0 && last) exit(0);
  if (strcmp(what, "return-from-collective") == 0) {
    if (last) exit(0);
    (void)upc_all_alloc((size_t)THREADS, 100);
  }
  if (strcmp(what, "exit-from-collective") == 0) {
    if (MYTHREAD == 0) exit(5);
    (void)upc_all_lock_alloc();
  }
  if (strcmp(what, "collective-then-exit") == 0) {
    for (int i = 0; i < 5; ++i) (void)upc_all_alloc((size_t)THREADS, 100);
    exit(0);
  }
  if (strcmp(what, "exit-all") == 0) {
    atexit(said_goodbye);
    exit(9);
  }
  if (strncmp(what, "child-", 6) == 0) {
    const pid_t child = fork();
    if (child == 0) {
      if (strcmp(what, "child-exits") == 0) exit(3);
      if (strcmp(what, "child-global-exit") == 0) upc_global_exit(3);
      exit(NCUPC_GET(int, ncupc_make(0, 0, 0)));
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status), "status %d", status);
    const int expected = strcmp(what, "child-null") == 0 ? 1 : 3;
    CHECK(WEXITSTATUS(status) == expected, "status %d", status);
  }
}

int ncupc_main(int argc, char** argv) {
  lock = upc_all_lock_alloc();
  NCUPC_BARRIER();
  if (argc > 1) misuse(argv[1]);
  NCUPC_BARRIER();
  return verdict();
}
