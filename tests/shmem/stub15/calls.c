/* Every call of OpenSHMEM 1.6, through libnearcache_shmem.so, against a library that records what
 * reaches it.
 *
 *     calls off     caching off: each call arrives as it was made, and nothing else does
 *     calls on      caching on: data arrive; a call that is passed on arrives as it was made, after
 *                   the writes that must precede it; and nothing read earlier is served after a
 * call
 *                   by which the program may learn of another PE's writes
 *
 * Prints `ok <calls>` or lines `FAILED <function>: <why>`. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

#include "stub.h"

enum kind {
  kind_g,
  kind_p,
  kind_get,
  kind_put,
  kind_get_nbi,
  kind_put_nbi,
  kind_iget,
  kind_iput,
  kind_ibget,
  kind_ibput,
  kind_update,
  kind_fetching,
  kind_fetching_nbi,
  kind_put_signal,
  kind_quiet,
  kind_fence,
  kind_wait,
  kind_test,
  kind_test_any,
  kind_test_lock,
  kind_barrier,
  kind_release,
  kind_unknown
};
struct call {
  const char* name;
  enum kind kind;
  uint64_t (*function)(const uint64_t* arguments);
  /* of the parameters: c context, e PE, t target, s signal, p other pointer, n number */
  const char* roles;
  size_t element; /* bytes of an element */
};
#include "calls.inc"

/* Places in the symmetric heap, far enough apart that none is fetched or written back with another.
 * */
enum { step = 32 << 10, pages = 30 };
static char* heap;
static shmem_ctx_t context;
static char *cached_place, *dirty_place, *target, *signal_word, *other_place;
static int failures;

static void failed(const struct call* call, const char* why) {
  printf("FAILED %s: %s\n", call->name, why);
  failures++;
}

static int on_context(const struct call* call) { return call->roles[0] == 'c'; }

static void fill_arguments(const struct call* call, uint64_t* arguments) {
  for (int i = 0; call->roles[i]; i++) {
    switch (call->roles[i]) {
      case 'c':
        arguments[i] = (uint64_t)(uintptr_t)context;
        break;
      case 'e':
        arguments[i] = 1;
        break;
      case 't':
        arguments[i] = (uint64_t)(uintptr_t)target;
        break;
      case 's':
        arguments[i] = (uint64_t)(uintptr_t)signal_word;
        break;
      case 'p':
        arguments[i] = (uint64_t)(uintptr_t)(other_place + 2048 * i);
        break;
      default:
        arguments[i] = 2 + (uint64_t)i;
    }
  }
}

/* Returns the index of the only record of the call itself, with the arguments as given, or -1 if
 * there is none. */
static int arrived(const struct call* call, const uint64_t* arguments) {
  int found = -1;
  for (int i = 0; i < stub_calls(); i++) {
    const struct stub_call* record = stub_call(i);
    if (strcmp(record->name, call->name) != 0) continue;
    if (found >= 0) {
      failed(call, "arrived twice");
      return -1;
    }
    found = i;
    if (record->count != (int)strlen(call->roles) ||
        memcmp(record->arguments, arguments, sizeof *arguments * (size_t)record->count) != 0)
      failed(call, "arrived with other arguments");
  }
  if (found < 0) failed(call, "did not arrive");
  return found;
}

/* Returns whether a put that covers `place` arrived before record `end`. */
static int written_before(const char* place, int end) {
  for (int i = 0; i < end; i++) {
    const struct stub_call* record = stub_call(i);
    if (!strstr(record->name, "putmem")) continue;
    const uint64_t* arguments = record->arguments + (strstr(record->name, "ctx_") ? 1 : 0);
    const uint64_t at = (uint64_t)(uintptr_t)place;
    if (arguments[3] == 1 && at >= arguments[0] && at < arguments[0] + arguments[2]) return 1;
  }
  return 0;
}

static void write_byte(const struct call* call, char* place, char value) {
  if (on_context(call))
    shmem_ctx_char_p(context, place, value, 1);
  else
    shmem_char_p(place, value, 1);
}
static char read_byte(const struct call* call, const char* place) {
  return on_context(call) ? shmem_ctx_char_g(context, place, 1) : shmem_char_g(place, 1);
}

/* Resets the state: nothing dirty, and nothing cached from earlier reads. */
static void settle(int round) {
  /* not always the same few words of a page, which would look like polling */
  cached_place = heap + 1032 * (round % pages);
  dirty_place = heap + step + 1024 * (round % pages);
  shmem_quiet();
  shmem_ctx_quiet(context);
  shmem_sync_all();
  /* The first word put after a quiet is sent at once, as it may be a flag. This one is not checked.
   * */
  shmem_char_p(heap + 7 * step, 1, 1);
  shmem_ctx_char_p(context, heap + 7 * step, 1, 1);
}

static int makes_write_back(enum kind kind) {
  return kind == kind_wait || kind == kind_test || kind == kind_test_any ||
         kind == kind_test_lock || kind == kind_barrier || kind == kind_release ||
         kind == kind_unknown;
}
static int touches_target(enum kind kind) {
  return kind == kind_iget || kind == kind_iput || kind == kind_ibget || kind == kind_ibput ||
         kind == kind_update || kind == kind_fetching || kind == kind_fetching_nbi ||
         kind == kind_put_signal;
}
/* Returns what a test returns when it is satisfied, and when it is not. */
static uint64_t answer(enum kind kind, int satisfied) {
  if (kind == kind_test_any) return satisfied ? 0 : (uint64_t)SIZE_MAX;
  if (kind == kind_test_lock) return satisfied ? 0 : 1;
  return (uint64_t)satisfied;
}
static int is_test(enum kind kind) {
  return kind == kind_test || kind == kind_test_any || kind == kind_test_lock;
}
static int acquires(enum kind kind, int satisfied) {
  return kind == kind_wait || kind == kind_barrier || kind == kind_fetching ||
         kind == kind_unknown || (is_test(kind) && satisfied);
}

/* Checks a call that is passed on. Returns 1 if previously read data are dropped without need; the
 * cache may do so once, because of its clock. */
static int drops_needlessly(const struct call* call, int round, int satisfied) {
  uint64_t arguments[stub_most_arguments];
  settle(round);
  fill_arguments(call, arguments);
  *(char*)stub_remote(cached_place) = 1;
  if (read_byte(call, cached_place) != 1) failed(call, "the read before it is wrong");
  write_byte(call, dirty_place, 77);
  if (touches_target(call->kind)) write_byte(call, target, 78);
  if (call->kind == kind_put_signal) write_byte(call, signal_word, 79);
  stub_clear();
  stub_result = is_test(call->kind) ? answer(call->kind, satisfied) : 1;
  const uint64_t result = call->function(arguments);
  const int at = arrived(call, arguments);
  if (at < 0) return 0;
  if (is_test(call->kind) && (uint32_t)result != (uint32_t)stub_result)
    failed(call, "returns something else");
  if (makes_write_back(call->kind) && !written_before(dirty_place, at))
    failed(call, "what was written is not on its way before it");
  if (touches_target(call->kind) && !written_before(target, at))
    failed(call, "what was written to its target is not there before it");
  if (call->kind == kind_put_signal && !written_before(signal_word, at))
    failed(call, "what was written to its signal is not there before");
  if (call->kind == kind_fetching_nbi)
    shmem_ctx_quiet(on_context(call) ? context : SHMEM_CTX_DEFAULT);
  *(char*)stub_remote(cached_place) = 2;
  const int fresh = read_byte(call, cached_place) == 2;
  const int must_be_fresh = acquires(call->kind, satisfied) || call->kind == kind_fetching_nbi;
  if (!fresh && must_be_fresh) failed(call, "serves what was read before it");
  return fresh && !must_be_fresh;
}

static void check_passed(const struct call* call, int round, int satisfied) {
  for (int tries = 0; tries < 5; tries++)
    if (!drops_needlessly(call, round + tries, satisfied)) return;
  failed(call, "drops what was read, without need");
}

/* quiet and fence: written data are put, then the library's own call follows. */
static void check_order(const struct call* call, int round) {
  uint64_t arguments[stub_most_arguments];
  settle(round);
  fill_arguments(call, arguments);
  write_byte(call, dirty_place, 77);
  stub_clear();
  call->function(arguments);
  int last = -1;
  for (int i = 0; i < stub_calls(); i++)
    if (strstr(stub_call(i)->name, call->kind == kind_quiet ? "quiet" : "fence")) last = i;
  if (last < 0) failed(call, "did not arrive");
  if (!written_before(dirty_place, last)) failed(call, "what was written is not put before it");
}

/* Returns whether exactly the bytes of `count` elements were copied to `to`, which was filled with
 * 0xEE. */
static int is_copy(const char* to, const char* from, size_t bytes) {
  for (size_t i = 0; i < bytes + 64; i++)
    if (to[i] != (i < bytes ? from[i] : (char)0xEE)) return 0;
  return 1;
}

static void check_block(const struct call* call, int round) {
  uint64_t arguments[stub_most_arguments];
  static char own[4096];
  settle(round);
  fill_arguments(call, arguments);
  const int first = on_context(call), gets = call->kind == kind_get || call->kind == kind_get_nbi;
  char* remote = stub_remote(target);
  const size_t bytes = arguments[first + 2] * call->element;
  memset(gets ? own : remote, 0xEE, sizeof own);
  for (size_t i = 0; i < sizeof own; i++) (gets ? remote : own)[i] = (char)(i + (size_t)round);
  arguments[first + (gets ? 0 : 1)] = (uint64_t)(uintptr_t)own;
  arguments[first + (gets ? 1 : 0)] = (uint64_t)(uintptr_t)target;
  call->function(arguments);
  shmem_ctx_quiet(on_context(call) ? context : SHMEM_CTX_DEFAULT);
  if (!is_copy(gets ? own : remote, gets ? remote : own, bytes))
    failed(call, "other data have come");
}

/* Checks the p of a type with the g that follows it in the table of calls: each reads what the
 * other writes. */
static void check_element(const struct call* call, int round) {
  uint64_t arguments[stub_most_arguments];
  static char expected[64];
  settle(round);
  fill_arguments(call, arguments);
  char* remote = stub_remote(target);
  if (call->kind == kind_p) {
    memset(remote, 0xEE, 128);
    memset(expected, 0xEE, sizeof expected);
    call->function(arguments);
    shmem_ctx_quiet(on_context(call) ? context : SHMEM_CTX_DEFAULT);
    if (memcmp(remote, expected, call->element < 16 ? 1 : 8) == 0) failed(call, "nothing has come");
    if (memcmp(remote + call->element, expected, sizeof expected) != 0)
      failed(call, "wrote over the end of the element");
    return;
  }
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) { /* the p of its type and form */
    const struct call* writer = &calls[i];
    const size_t length = strlen(call->name);
    if (writer->kind != kind_p || strlen(writer->name) != length ||
        strncmp(writer->name, call->name, length - 1) != 0)
      continue;
    uint64_t given[stub_most_arguments];
    fill_arguments(writer, given);
    writer->function(given);
    settle(round);
    if (call->function(arguments) != given[on_context(writer) + 1])
      failed(call, "reads another value than was written");
    return;
  }
  failed(call, "there is no p of its type");
}

static void check_cached(const struct call* call, int round) {
  switch (call->kind) {
    case kind_g:
    case kind_p:
      check_element(call, round);
      break;
    case kind_get:
    case kind_put:
    case kind_get_nbi:
    case kind_put_nbi:
      check_block(call, round);
      break;
    case kind_quiet:
    case kind_fence:
      check_order(call, round);
      break;
    default:
      check_passed(call, round, 1);
  }
  if (is_test(call->kind)) check_passed(call, round + 1, 0);
}

static void check_off(const struct call* call) {
  uint64_t arguments[stub_most_arguments];
  fill_arguments(call, arguments);
  stub_clear();
  stub_result = 1;
  const uint64_t result = call->function(arguments);
  if (arrived(call, arguments) >= 0 && stub_calls() != 1)
    failed(call, "something else arrived too");
  if (result > 1) failed(call, "returns something else");
}

int main(int argc, char** argv) {
  const int off = argc > 1 && strcmp(argv[1], "off") == 0;
  const int count = (int)(sizeof calls / sizeof *calls);
  shmem_init();
  heap = shmem_malloc(8 * step);
  target = heap + 3 * step;
  signal_word = heap + 4 * step;
  other_place = heap + 5 * step;
  if (shmem_ctx_create(0, &context) != 0) return 1;
  for (int i = 0; i < count; i++) {
    if (off)
      check_off(&calls[i]);
    else
      check_cached(&calls[i], 2 * i);
  }
  shmem_ctx_destroy(context);
  shmem_free(heap);
  shmem_finalize();
  if (!failures) printf("ok %d\n", count);
  return failures != 0;
}
