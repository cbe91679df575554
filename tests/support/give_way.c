/* To preload into ranks: who waits for a message gives way. There are more ranks than cores, and
 * beside them what other tests compile; MPICH polls without a pause until the kernel takes the core
 * from it, Open MPI yields, which costs as much. What waits longer than a message takes sleeps
 * here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

unsigned ucp_worker_progress(void* worker);

/* Waiting: one poll after the other, and nothing came. Polls in vain before a core is given away,
 * and before the thread sleeps; a longer gap between two of them was not spent waiting. */
enum { SPINS = 100, YIELDS = 150, GAP_NS = 20000 };

static __thread int in_vain;
static __thread int64_t last;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void poll_in_vain(int spins) {
  int64_t start = now();
  in_vain = start - last < GAP_NS ? in_vain + 1 : 1;
  last = start;
  if (in_vain <= spins) return;
  if (in_vain <= YIELDS)
    syscall(SYS_sched_yield);
  else
    syscall(SYS_nanosleep, &(struct timespec){0, 1}, NULL); /* as short as it can: some 50 us */
  last = now();
}

/* Open MPI, OpenSHMEM and Nearcache yield where they wait. */
int sched_yield(void) {
  poll_in_vain(0);
  return 0;
}

/* Python loads an MPI, and with it UCX, for itself: only what the caller was linked with finds it.
 */
static void* beside(void* caller, const char* name) {
  Dl_info object;
  void* handle = dladdr(caller, &object) ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  return handle ? dlsym(handle, name) : NULL;
}

/* What MPICH's progress calls over UCX. */
unsigned ucp_worker_progress(void* worker) {
  static unsigned (*next)(void*);
  unsigned (*call)(void*) = __atomic_load_n(&next, __ATOMIC_RELAXED);
  if (!call) {
    const char* name = "ucp_worker_progress";
    void* found = dlsym(RTLD_NEXT, name);
    *(void**)&call = found ? found : beside(__builtin_return_address(0), name);
    __atomic_store_n(&next, call, __ATOMIC_RELAXED);
  }
  unsigned events = call(worker);
  if (events)
    in_vain = 0;
  else
    poll_in_vain(SPINS);
  return events;
}
