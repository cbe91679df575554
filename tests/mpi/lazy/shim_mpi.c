/* An MPI controlled by a test: it fails calls, or stops a flush on its way, with the puts before
 * it.
 *
 * Preloaded below Nearcache. The test finds its switches by dlsym:
 *
 *   shim_fail(name, times)   the next `times` calls of that name do nothing and return
 *                            MPI_ERR_OTHER. A wait or test that fails has freed its request and
 *                            transferred no data that may be relied on; a lock that fails calls
 *                            the window's error handler
 *   shim_hold()              from now on puts are held back until a flush, and the next flush waits
 *                            at a gate before it does anything. Gets return the target's contents
 *                            as of the call
 *   shim_wait_for_flush()    returns when a flush is at the gate
 *   shim_let_go()            opens the gate
 *   shim_hold_sums(on)       holds MPI_Rget_accumulate back, as an MPI does that needs a call of
 * the target for it, until it is called with 0; a flush of the window would not return, and ends
 * the program shim_late(seconds)       delays the start of the next MPI_Iallgather
 *   shim_distort(bits)       inverts these bits of what the next MPI_Iallgather sends, a word
 *   shim_calls(name)         returns the number of calls of that name
 *   shim_most_at_once()      returns the most threads that were in MPI_Win_allocate and
 *                            MPI_Win_free at the same time; each call takes some milliseconds
 *                            longer. Returns 99 if a window was made on MPI_COMM_SELF
 *   shim_at_create           a function called by the next MPI_Win_create, before it does anything
 *   shim_at_end              a function called after the objects above have ended and their statics
 *                            have been destroyed */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_request.h"

#define NAMES 32
#define EXPORT __attribute__((visibility("default")))

struct name {
  const char* text;
  int failures; /* yet to be injected */
  long calls;
};

struct put {
  const void* origin;
  int origin_count, target, target_count;
  MPI_Datatype origin_type, target_type;
  MPI_Aint displacement;
  MPI_Win win;
};

struct sum {
  const void* origin;
  void* result;
  int count, target;
  MPI_Datatype type;
  MPI_Aint displacement;
  MPI_Op op;
  MPI_Win win;
  MPI_Request request; /* the caller's: a generalized one */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct name names[NAMES];
static struct put held[64];
static struct sum sums[64];
static int sums_held, holding_sums;
static int windows_at_once, most_at_once;
static int puts_held, holding, at_gate, open_gate;
static unsigned late;
static unsigned long distorted; /* bits */

EXPORT void (*shim_at_end)(void);
EXPORT void (*shim_at_create)(void);

__attribute__((destructor)) static void end(void) {
  if (shim_at_end) {
    shim_at_end();
  }
}

static struct name* of(const char* text) {
  for (int i = 0; i < NAMES; i++) {
    if (!names[i].text) {
      names[i].text = strdup(text);
    }
    if (strcmp(names[i].text, text) == 0) {
      return &names[i];
    }
  }
  abort();
}

static int fails(const char* text) {
  pthread_mutex_lock(&lock);
  struct name* name = of(text);
  name->calls++;
  const int failing = name->failures > 0;
  name->failures -= failing;
  pthread_mutex_unlock(&lock);
  return failing;
}

EXPORT void shim_fail(const char* text, int times) {
  pthread_mutex_lock(&lock);
  of(text)->failures = times;
  pthread_mutex_unlock(&lock);
}

EXPORT long shim_calls(const char* text) {
  pthread_mutex_lock(&lock);
  const long calls = of(text)->calls;
  pthread_mutex_unlock(&lock);
  return calls;
}

EXPORT void shim_late(unsigned seconds) { late = seconds; }

EXPORT void shim_distort(unsigned long bits) { distorted = bits; }

EXPORT void shim_hold(void) {
  pthread_mutex_lock(&lock);
  holding = 1;
  at_gate = open_gate = 0;
  pthread_mutex_unlock(&lock);
}

EXPORT void shim_wait_for_flush(void) {
  pthread_mutex_lock(&lock);
  while (!at_gate) {
    pthread_cond_wait(&changed, &lock);
  }
  pthread_mutex_unlock(&lock);
}

EXPORT void shim_let_go(void) {
  pthread_mutex_lock(&lock);
  open_gate = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

EXPORT int shim_most_at_once(void) {
  pthread_mutex_lock(&lock);
  const int most = most_at_once;
  pthread_mutex_unlock(&lock);
  return most;
}

static void window_begins(int at_least) {
  pthread_mutex_lock(&lock);
  windows_at_once++;
  at_least = at_least > windows_at_once ? at_least : windows_at_once;
  most_at_once = most_at_once > at_least ? most_at_once : at_least;
  pthread_mutex_unlock(&lock);
  usleep(5000);
}

static int window_done(int result) {
  pthread_mutex_lock(&lock);
  windows_at_once--;
  pthread_mutex_unlock(&lock);
  return result;
}

int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                     MPI_Win* win) {
  window_begins(comm == MPI_COMM_SELF ? 99 : 1);
  return window_done(PMPI_Win_allocate(size, unit, info, comm, base, win));
}

int MPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                   MPI_Win* win) {
  void (*const call)(void) = shim_at_create;
  shim_at_create = NULL;
  if (call) {
    call();
  }
  return PMPI_Win_create(base, size, unit, info, comm, win);
}

int MPI_Win_free(MPI_Win* win) {
  window_begins(1);
  return window_done(PMPI_Win_free(win));
}

int MPI_Rget_accumulate(const void* origin, int count, MPI_Datatype type, void* result,
                        int result_count, MPI_Datatype result_type, int target,
                        MPI_Aint displacement, int target_count, MPI_Datatype target_type,
                        MPI_Op op, MPI_Win win, MPI_Request* request) {
  if (!holding_sums || sums_held == 64) {
    return PMPI_Rget_accumulate(origin, count, type, result, result_count, result_type, target,
                                displacement, target_count, target_type, op, win, request);
  }
  start_request(request);
  sums[sums_held++] =
      (struct sum){origin, result, count, target, type, displacement, op, win, *request};
  return MPI_SUCCESS;
}

EXPORT void shim_hold_sums(int on) {
  holding_sums = on;
  for (int i = 0; i < sums_held && !on; i++) {
    const struct sum* sum = &sums[i];
    MPI_Request request;
    PMPI_Rget_accumulate(sum->origin, sum->count, sum->type, sum->result, sum->count, sum->type,
                         sum->target, sum->displacement, sum->count, sum->type, sum->op, sum->win,
                         &request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
    PMPI_Grequest_complete(sum->request);
  }
  sums_held = on ? sums_held : 0;
}

static void would_wait(MPI_Win win) {
  for (int i = 0; i < sums_held; i++) {
    if (sums[i].win == win) {
      printf("FAILED shim: a flush waits for an accumulate that is held back\n");
      fflush(stdout);
      PMPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
}

static int issue(const struct put* put) {
  return PMPI_Put(put->origin, put->origin_count, put->origin_type, put->target, put->displacement,
                  put->target_count, put->target_type, put->win);
}

int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  const struct put put = {origin,      origin_count, target,       target_count,
                          origin_type, target_type,  displacement, win};
  int keep;
  if (fails("MPI_Put")) {
    return MPI_ERR_OTHER;
  }
  pthread_mutex_lock(&lock);
  keep = holding && puts_held < 64;
  if (keep) {
    held[puts_held++] = put;
  }
  pthread_mutex_unlock(&lock);
  return keep ? MPI_SUCCESS : issue(&put);
}

/* The first flush that arrives while puts are held waits at the gate; others pass, and complete
 * gets only. */
static void pass_gate(void) {
  int first;
  pthread_mutex_lock(&lock);
  first = holding && !at_gate;
  if (first) {
    at_gate = 1;
    pthread_cond_broadcast(&changed);
    while (!open_gate) {
      pthread_cond_wait(&changed, &lock);
    }
    holding = 0;
    for (int i = 0; i < puts_held; i++) {
      issue(&held[i]);
    }
    puts_held = 0;
  }
  pthread_mutex_unlock(&lock);
}

int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  int result;
  if (fails("MPI_Get")) {
    return MPI_ERR_OTHER;
  }
  result = PMPI_Get(origin, origin_count, origin_type, target, displacement, target_count,
                    target_type, win);
  if (result == MPI_SUCCESS && holding && target >= 0) {
    PMPI_Win_flush(target, win);
  }
  return result;
}

#define SYNCHRONISE(name, parameters, arguments) \
  int name parameters {                          \
    if (fails(#name)) {                          \
      return MPI_ERR_OTHER;                      \
    }                                            \
    pass_gate();                                 \
    would_wait(win);                             \
    return P##name arguments;                    \
  }
SYNCHRONISE(MPI_Win_flush, (int rank, MPI_Win win), (rank, win))
SYNCHRONISE(MPI_Win_flush_all, (MPI_Win win), (win))
SYNCHRONISE(MPI_Win_flush_local, (int rank, MPI_Win win), (rank, win))
SYNCHRONISE(MPI_Win_flush_local_all, (MPI_Win win), (win))
SYNCHRONISE(MPI_Win_unlock, (int rank, MPI_Win win), (rank, win))
SYNCHRONISE(MPI_Win_unlock_all, (MPI_Win win), (win))
SYNCHRONISE(MPI_Win_fence, (int assertion, MPI_Win win), (assertion, win))

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win) {
  if (fails("MPI_Win_lock")) {
    PMPI_Win_call_errhandler(win, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
  }
  pass_gate();
  would_wait(win);
  return PMPI_Win_lock(type, rank, assertion, win);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  const int result = PMPI_Wait(request, status);
  return fails("MPI_Wait") ? MPI_ERR_OTHER : result;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const int failing = fails("MPI_Test");
  if (!failing) {
    return PMPI_Test(request, done, status);
  }
  PMPI_Wait(request, status);
  *done = 1;
  return MPI_ERR_OTHER;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int result = PMPI_Waitall(count, requests, statuses);
  return fails("MPI_Waitall") ? MPI_ERR_IN_STATUS : result;
}

int MPI_Iallgather(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                   MPI_Datatype to_type, MPI_Comm comm, MPI_Request* request) {
  const unsigned seconds = late;
  late = 0;
  sleep(seconds);
  if (distorted) {
    *(unsigned long*)from ^= distorted; /* the sender's own memory, which it does not read again */
    distorted = 0;
  }
  return PMPI_Iallgather(from, count, type, to, to_count, to_type, comm, request);
}

int MPI_Win_set_attr(MPI_Win win, int keyval, void* value) {
  return fails("MPI_Win_set_attr") ? MPI_ERR_OTHER : PMPI_Win_set_attr(win, keyval, value);
}

int MPI_Barrier(MPI_Comm comm) { return fails("MPI_Barrier") ? MPI_ERR_OTHER : PMPI_Barrier(comm); }

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return fails("MPI_Send") ? MPI_ERR_OTHER : PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Request_free(MPI_Request* request) {
  return fails("MPI_Request_free") ? MPI_ERR_OTHER : PMPI_Request_free(request);
}

#if MPI_VERSION >= 4
int MPI_Session_finalize(MPI_Session* session) {
  return fails("MPI_Session_finalize") ? MPI_ERR_OTHER : PMPI_Session_finalize(session);
}
#endif
