/* A lazy MPI: the latest completion of gets that the standard allows (MPI-4, 12.5 and 12.7).
 *
 * Preloaded below Nearcache (LD_PRELOAD="libnearcache_mpi.so liblazy_mpi.so"), it holds every get
 * back and fills its destination with poison. The host MPI sees the get only when a call completes
 * exactly that target or request: flush(1) transfers nothing from rank 2, and a test of a request
 * succeeds at its third call. A cache that reads a destination too early, or skips a
 * synchronisation that is due, serves poison.
 *
 * A lock of another rank is taken by the first call that needs it, as the standard allows too: the
 * program may rely on it from its first flush on.
 *
 * An Rget is a generalised request here, completed when its data have been transferred. One lock
 * guards the queue; gets are passed to the host under it, so that a thread's flush covers what
 * another one has just issued. */

/* MPICH 4.2 declares these without const. */
#define MPI_Request_get_status_all declared_get_status_all
#define MPI_Request_get_status_any declared_get_status_any
#define MPI_Request_get_status_some declared_get_status_some
#include <mpi.h>
#undef MPI_Request_get_status_all
#undef MPI_Request_get_status_any
#undef MPI_Request_get_status_some
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own_request.h"

#define POISON 0xA5
#define EVERY_TARGET (-1000)
#define TESTS_BEFORE_DONE 3

#if MPI_VERSION >= 4
#define HAVE_LARGE 1
#else
#define HAVE_LARGE 0
#endif

struct get {
  MPI_Win win;
  void* origin;
  long long origin_count;
  MPI_Datatype origin_type;
  int target;
  MPI_Aint displacement;
  long long target_count;
  MPI_Datatype target_type;
  int large;           /* issued by a _c call */
  MPI_Request request; /* MPI_REQUEST_NULL for a plain get */
  int tests;           /* how often the request was tested */
  struct get* next;
};

static struct get* queue; /* in the order of the calls */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static long long deferred;

/* Set by programs over this MPI, found by dlsym: how many of the next gets and flushes fail without
 * doing anything, and how many of the next waits and tests of a request fail, freeing it without
 * transferring data; and what another thread does during a synchronisation, after it has been
 * determined what this completes. */
int lazy_mpi_failing;
void (*lazy_mpi_meanwhile)(void);

static int fails(void) { return lazy_mpi_failing > 0 && lazy_mpi_failing-- > 0; }

/* Locks that the program has and the host was not asked for. */
struct lock {
  int type, rank, assertion;
  MPI_Win win;
  struct lock* next;
};

static struct lock* locks;
static pthread_mutex_t locks_lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether the program has an address of others' memory, which it loads and stores to under a lock.
 */
static int keyval_of_reached(void) {
  static int keyval = MPI_KEYVAL_INVALID;
  if (keyval == MPI_KEYVAL_INVALID) {
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL);
  }
  return keyval;
}

/* What the process stores at its own rank needs the lock at once. */
static int lock_can_wait(int rank, MPI_Win win) {
  int ranks = 0, own = 0, reached = 0;
  void* value;
  MPI_Group group;
  PMPI_Win_get_group(win, &group);
  PMPI_Group_size(group, &ranks);
  PMPI_Group_rank(group, &own);
  PMPI_Group_free(&group);
  PMPI_Win_get_attr(win, keyval_of_reached(), &value, &reached);
  return rank >= 0 && rank < ranks && rank != own && !reached;
}

int MPI_Win_lock(int type, int rank, int assertion, MPI_Win win) {
  if (!lock_can_wait(rank, win)) {
    return PMPI_Win_lock(type, rank, assertion, win);
  }
  struct lock* lock = malloc(sizeof *lock);
  pthread_mutex_lock(&locks_lock);
  *lock = (struct lock){type, rank, assertion, win, locks};
  locks = lock;
  pthread_mutex_unlock(&locks_lock);
  return MPI_SUCCESS;
}

/* Called before every operation on `target` of `win`. (Large-count writes are left out: no test
 * makes them under a lock.) */
static void take_locks(MPI_Win win, int target) {
  pthread_mutex_lock(&locks_lock);
  for (struct lock** link = &locks; *link;) {
    struct lock* lock = *link;
    if (lock->win == win && (target == EVERY_TARGET || lock->rank == target)) {
      PMPI_Win_lock(lock->type, lock->rank, lock->assertion, win);
      *link = lock->next;
      free(lock);
    } else {
      link = &lock->next;
    }
  }
  pthread_mutex_unlock(&locks_lock);
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* unit, void* base) {
  take_locks(win, EVERY_TARGET);
  PMPI_Win_set_attr(win, keyval_of_reached(), NULL);
  return PMPI_Win_shared_query(win, rank, size, unit, base);
}

#define WRITE(name, parameters, arguments) \
  int name parameters {                    \
    take_locks(win, target);               \
    return P##name arguments;              \
  }
#define ORIGIN const void *from, int count, MPI_Datatype type
#define RESULT void *to, int to_count, MPI_Datatype to_type
#define TARGET int target, MPI_Aint at, int there, MPI_Datatype type_there
WRITE(MPI_Put, (ORIGIN, TARGET, MPI_Win win),
      (from, count, type, target, at, there, type_there, win))
WRITE(MPI_Rput, (ORIGIN, TARGET, MPI_Win win, MPI_Request* request),
      (from, count, type, target, at, there, type_there, win, request))
WRITE(MPI_Accumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win win),
      (from, count, type, target, at, there, type_there, op, win))
WRITE(MPI_Raccumulate, (ORIGIN, TARGET, MPI_Op op, MPI_Win win, MPI_Request* request),
      (from, count, type, target, at, there, type_there, op, win, request))
WRITE(MPI_Get_accumulate, (ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win win),
      (from, count, type, to, to_count, to_type, target, at, there, type_there, op, win))
WRITE(MPI_Rget_accumulate, (ORIGIN, RESULT, TARGET, MPI_Op op, MPI_Win win, MPI_Request* request),
      (from, count, type, to, to_count, to_type, target, at, there, type_there, op, win, request))
WRITE(MPI_Fetch_and_op,
      (const void* from, void* to, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
       MPI_Win win),
      (from, to, type, target, at, op, win))
WRITE(MPI_Compare_and_swap,
      (const void* from, const void* compared, void* to, MPI_Datatype type, int target, MPI_Aint at,
       MPI_Win win),
      (from, compared, to, type, target, at, win))

/* Holds back only gets that the host would accept: errors must be reported by the host, at the
 * call. */
static int can_wait(const struct get* get) {
  int size = 0, ranks = 0;
  MPI_Group group;
  if (get->target == MPI_PROC_NULL || get->target < 0 || get->displacement < 0 ||
      get->origin_count <= 0 || get->target_count <= 0 || get->win == MPI_WIN_NULL ||
      get->origin_type == MPI_DATATYPE_NULL || get->target_type == MPI_DATATYPE_NULL) {
    return 0;
  }
  PMPI_Type_size(get->origin_type, &size);
  PMPI_Win_get_group(get->win, &group);
  PMPI_Group_size(group, &ranks);
  PMPI_Group_free(&group);
  return size > 0 && get->target < ranks;
}

static void poison(const struct get* get) {
  int size = 0, position = 0;
  PMPI_Type_size(get->origin_type, &size);
  const size_t bytes = (size_t)size * (size_t)get->origin_count;
  if (bytes > (1u << 30) || get->origin == MPI_BOTTOM) {
    return; /* MPI_Unpack counts in int, and MPICH 4 refuses to unpack to MPI_BOTTOM */
  }
  char* packed = malloc(bytes);
  memset(packed, POISON, bytes);
  PMPI_Unpack(packed, (int)bytes, &position, get->origin, (int)get->origin_count, get->origin_type,
              MPI_COMM_SELF);
  free(packed);
}

static void hold(const struct get* get) {
  struct get *kept = malloc(sizeof *kept), **end = &queue;
  *kept = *get;
  kept->next = NULL;
  kept->tests = 0;
  /* The program may free its datatypes at once. */
  PMPI_Type_dup(get->origin_type, &kept->origin_type);
  PMPI_Type_dup(get->target_type, &kept->target_type);
  poison(get);
  pthread_mutex_lock(&queue_lock);
  while (*end) {
    end = &(*end)->next;
  }
  *end = kept;
  deferred++;
  pthread_mutex_unlock(&queue_lock);
}

static int issue(const struct get* get, MPI_Request* request) {
  take_locks(get->win, get->target);
#if HAVE_LARGE
  if (get->large) {
    return request ? PMPI_Rget_c(get->origin, get->origin_count, get->origin_type, get->target,
                                 get->displacement, get->target_count, get->target_type, get->win,
                                 request)
                   : PMPI_Get_c(get->origin, get->origin_count, get->origin_type, get->target,
                                get->displacement, get->target_count, get->target_type, get->win);
  }
#endif
  return request ? PMPI_Rget(get->origin, (int)get->origin_count, get->origin_type, get->target,
                             get->displacement, (int)get->target_count, get->target_type, get->win,
                             request)
                 : PMPI_Get(get->origin, (int)get->origin_count, get->origin_type, get->target,
                            get->displacement, (int)get->target_count, get->target_type, get->win);
}

static void release(struct get* get) {
  PMPI_Type_free(&get->origin_type);
  PMPI_Type_free(&get->target_type);
  free(get);
}

/* Passes the gets from `target` of `win` to the host and takes them out of the queue. */
static struct get* start(MPI_Win win, int target) {
  struct get *started = NULL, **link = &queue;
  pthread_mutex_lock(&queue_lock);
  while (*link) {
    struct get* get = *link;
    if (get->win == win && (target == EVERY_TARGET || get->target == target)) {
      *link = get->next;
      issue(get, NULL);
      get->next = started;
      started = get;
    } else {
      link = &get->next;
    }
  }
  pthread_mutex_unlock(&queue_lock);
  return started;
}

/* Called after the host's synchronisation: marks the requests among these gets complete. */
static void finish(struct get* started) {
  while (started) {
    struct get* next = started->next;
    if (started->request != MPI_REQUEST_NULL) {
      PMPI_Grequest_complete(started->request);
    }
    release(started);
    started = next;
  }
}

int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target,
            MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  const struct get get = {
      win,         origin, origin_count,     origin_type, target, displacement, target_count,
      target_type, 0,      MPI_REQUEST_NULL, 0,           NULL};
  if (fails()) {
    return MPI_ERR_OTHER;
  }
  if (!can_wait(&get)) {
    return issue(&get, NULL);
  }
  hold(&get);
  return MPI_SUCCESS;
}

static int hold_request(struct get* get, MPI_Request* request) {
  if (fails()) {
    return MPI_ERR_OTHER;
  }
  if (!can_wait(get)) {
    return issue(get, request);
  }
  start_request(request);
  get->request = *request;
  hold(get);
  return MPI_SUCCESS;
}

int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target,
             MPI_Aint displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
             MPI_Request* request) {
  struct get get = {
      win,         origin, origin_count,     origin_type, target, displacement, target_count,
      target_type, 0,      MPI_REQUEST_NULL, 0,           NULL};
  return hold_request(&get, request);
}

#if HAVE_LARGE
int MPI_Get_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
              MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
              MPI_Win win) {
  const struct get get = {
      win,         origin, origin_count,     origin_type, target, displacement, target_count,
      target_type, 1,      MPI_REQUEST_NULL, 0,           NULL};
  if (!can_wait(&get)) {
    return issue(&get, NULL);
  }
  hold(&get);
  return MPI_SUCCESS;
}

int MPI_Rget_c(void* origin, MPI_Count origin_count, MPI_Datatype origin_type, int target,
               MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type, MPI_Win win,
               MPI_Request* request) {
  struct get get = {
      win,         origin, origin_count,     origin_type, target, displacement, target_count,
      target_type, 1,      MPI_REQUEST_NULL, 0,           NULL};
  return hold_request(&get, request);
}
#endif

/* The synchronisation calls. The gets that a call completes are started just before it, and
 * finished just after it. */
#define SYNCHRONISE(name, parameters, target, call) \
  int name parameters {                             \
    if (fails()) {                                  \
      return MPI_ERR_OTHER;                         \
    }                                               \
    take_locks(win, target);                        \
    struct get* started = start(win, target);       \
    if (lazy_mpi_meanwhile) {                       \
      lazy_mpi_meanwhile();                         \
    }                                               \
    const int result = call;                        \
    finish(started);                                \
    return result;                                  \
  }
SYNCHRONISE(MPI_Win_fence, (int assertion, MPI_Win win), EVERY_TARGET,
            PMPI_Win_fence(assertion, win))
SYNCHRONISE(MPI_Win_complete, (MPI_Win win), EVERY_TARGET, PMPI_Win_complete(win))
SYNCHRONISE(MPI_Win_unlock, (int rank, MPI_Win win), rank, PMPI_Win_unlock(rank, win))
SYNCHRONISE(MPI_Win_unlock_all, (MPI_Win win), EVERY_TARGET, PMPI_Win_unlock_all(win))
SYNCHRONISE(MPI_Win_flush, (int rank, MPI_Win win), rank, PMPI_Win_flush(rank, win))
SYNCHRONISE(MPI_Win_flush_all, (MPI_Win win), EVERY_TARGET, PMPI_Win_flush_all(win))
SYNCHRONISE(MPI_Win_flush_local, (int rank, MPI_Win win), rank, PMPI_Win_flush_local(rank, win))
SYNCHRONISE(MPI_Win_flush_local_all, (MPI_Win win), EVERY_TARGET, PMPI_Win_flush_local_all(win))

int MPI_Win_free(MPI_Win* win) {
  struct get* get;
  pthread_mutex_lock(&queue_lock);
  for (get = queue; get; get = get->next) {
    if (get->win == *win) {
      printf(
          "FAILED lazy_mpi: a window is freed with a get from rank %d that no call has completed\n",
          get->target);
    }
  }
  pthread_mutex_unlock(&queue_lock);
  return PMPI_Win_free(win);
}

/* Takes the get of `request` out of the queue if it may complete: waited for, or tested often
 * enough. */
static struct get* take(MPI_Request request, int waiting) {
  struct get *found = NULL, **link;
  if (request == MPI_REQUEST_NULL) {
    return NULL;
  }
  pthread_mutex_lock(&queue_lock);
  for (link = &queue; *link; link = &(*link)->next) {
    if ((*link)->request == request) {
      if (waiting || ++(*link)->tests >= TESTS_BEFORE_DONE) {
        found = *link;
        *link = found->next;
      }
      break;
    }
  }
  pthread_mutex_unlock(&queue_lock);
  return found;
}

/* Transfers the data of one request's get; returns 1 if that was still to be done. */
static int complete(MPI_Request request, int waiting) {
  MPI_Request own;
  struct get* get = take(request, waiting);
  if (!get) {
    return 0;
  }
  issue(get, &own);
  PMPI_Wait(&own, MPI_STATUS_IGNORE);
  PMPI_Grequest_complete(get->request);
  release(get);
  return 1;
}

static void complete_all(int count, const MPI_Request* requests, int waiting) {
  for (int i = 0; i < count; i++) {
    complete(requests[i], waiting);
  }
}

/* Completes one request, the last, because programs tend to expect the first. */
static void complete_one(int count, const MPI_Request* requests) {
  while (count-- > 0 && !complete(requests[count], 1)) {
  }
}

static int is_held(MPI_Request request) {
  const struct get* get;
  pthread_mutex_lock(&queue_lock);
  for (get = queue; get && get->request != request; get = get->next) {
  }
  pthread_mutex_unlock(&queue_lock);
  return get != NULL && request != MPI_REQUEST_NULL;
}

/* Returns the injected error of a call that completes these requests, provided that there are data
 * to lose. The requests are then complete without their data. */
static int fails_with(int count, const MPI_Request* requests) {
  int held = 0;
  for (int i = 0; i < count; i++) {
    held += is_held(requests[i]);
  }
  if (held == 0 || !fails()) {
    return 0;
  }
  for (int i = 0; i < count; i++) {
    struct get* get = take(requests[i], 1);
    if (get) {
      PMPI_Grequest_complete(get->request);
      release(get);
    }
  }
  return 1;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (fails_with(1, request)) {
    PMPI_Wait(request, status);
    return MPI_ERR_OTHER;
  }
  complete(*request, 1);
  return PMPI_Wait(request, status);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  if (fails_with(count, requests)) {
    PMPI_Waitall(count, requests, statuses);
    return MPI_ERR_IN_STATUS;
  }
  complete_all(count, requests, 1);
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  int done = 0;
  const int result = PMPI_Testany(count, requests, index, &done, status);
  if (done || result != MPI_SUCCESS) {
    return result;
  }
  complete_one(count, requests);
  return PMPI_Waitany(count, requests, index, status);
}

int MPI_Waitsome(int count, MPI_Request* requests, int* out, int* indices, MPI_Status* statuses) {
  const int result = PMPI_Testsome(count, requests, out, indices, statuses);
  if (*out != 0 || result != MPI_SUCCESS) {
    return result;
  }
  complete_one(count, requests);
  return PMPI_Waitsome(count, requests, out, indices, statuses);
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  if (fails_with(1, request)) {
    *done = 1;
    PMPI_Wait(request, status);
    return MPI_ERR_OTHER;
  }
  complete(*request, 0);
  return PMPI_Test(request, done, status);
}

int MPI_Testall(int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  complete_all(count, requests, 0);
  return PMPI_Testall(count, requests, done, statuses);
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* done, MPI_Status* status) {
  complete_all(count, requests, 0);
  return PMPI_Testany(count, requests, index, done, status);
}

int MPI_Testsome(int count, MPI_Request* requests, int* out, int* indices, MPI_Status* statuses) {
  complete_all(count, requests, 0);
  return PMPI_Testsome(count, requests, out, indices, statuses);
}

int MPI_Request_get_status(MPI_Request request, int* done, MPI_Status* status) {
  complete(request, 0);
  return PMPI_Request_get_status(request, done, status);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* done,
                               MPI_Status* statuses) {
  complete_all(count, requests, 0);
  return PMPI_Request_get_status_all(count, (MPI_Request*)requests, done, statuses);
}

int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* done,
                               MPI_Status* status) {
  complete_all(count, requests, 0);
  return PMPI_Request_get_status_any(count, (MPI_Request*)requests, index, done, status);
}

int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* out, int* indices,
                                MPI_Status* statuses) {
  complete_all(count, requests, 0);
  return PMPI_Request_get_status_some(count, (MPI_Request*)requests, out, indices, statuses);
}
#endif

/* The get of a freed request stays in the queue until the next synchronisation; only the request is
 * complete. */
int MPI_Request_free(MPI_Request* request) {
  struct get* get;
  pthread_mutex_lock(&queue_lock);
  for (get = queue; get; get = get->next) {
    if (get->request == *request) {
      PMPI_Grequest_complete(get->request);
      get->request = MPI_REQUEST_NULL;
    }
  }
  pthread_mutex_unlock(&queue_lock);
  return PMPI_Request_free(request);
}

int MPI_Finalize(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    printf("lazy_mpi deferred %lld gets\n", deferred);
  }
  return PMPI_Finalize();
}
