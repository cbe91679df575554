/* SHMEM_THREAD_MULTIPLE: threads share the default context and have private ones; each checks what
 * it may rely on. */
#include <pthread.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 2
#define WORDS 128

static long shared[THREADS][WORDS], own[THREADS][WORDS];
static long ended[THREADS];
static int me, right, left;
static _Atomic long wrong;

static void expect(long found, long expected, const char* what, int thread) {
  if (found != expected && wrong++ < 5)
    printf("PE %d, thread %d, %s: %ld, not %ld\n", me, thread, what, found, expected);
}

/* Words of all threads are interleaved within lines; reads of other threads' words bring in old
 * values. */
static void on_the_default_context(int thread) {
  for (long round = 1; round <= 10; ++round) {
    for (int i = 0; i < WORDS; ++i) {
      long* word = &shared[0][0] + i * THREADS + thread;
      shmem_long_p(word, round * 1000 + i, right);
      if (i % 7 == 0)
        (void)shmem_long_g(&shared[0][0] + i * THREADS + (thread + 1) % THREADS, right);
      if (i % 5 == 0) expect(shmem_long_g(word, right), round * 1000 + i, "own word", thread);
      if (i % 50 == 49) shmem_quiet();
      if (i % 60 == 49) shmem_fence();
    }
    shmem_quiet();
    for (int i = 0; i < WORDS; ++i)
      expect(shmem_long_g(&shared[0][0] + i * THREADS + thread, right), round * 1000 + i,
             "after quiet", thread);
  }
}

/* Open MPI 4 creates and destroys contexts correctly in one thread at a time only. */
static pthread_mutex_t creating = PTHREAD_MUTEX_INITIALIZER;

static void on_a_private_context(int thread) {
  shmem_ctx_t ctx;
  pthread_mutex_lock(&creating);
  const int failed = shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx);
  pthread_mutex_unlock(&creating);
  expect(failed, 0, "shmem_ctx_create", thread);
  if (failed) return;
  for (int i = 0; i < WORDS; ++i) shmem_ctx_long_p(ctx, &own[thread][i], i + thread, right);
  expect(shmem_ctx_long_g(ctx, &own[thread][9], right), 9 + thread, "through the private context",
         thread);
  shmem_ctx_quiet(ctx);
  expect(shmem_long_g(&own[thread][9], right), 9 + thread, "through the default context", thread);
  shmem_ctx_long_p(ctx, &own[thread][0], -1, right);
  pthread_mutex_lock(&creating);
  shmem_ctx_destroy(ctx);
  pthread_mutex_unlock(&creating);
}

static void* work(void* argument) {
  const int thread = (int)(long)argument;
  on_the_default_context(thread);
  on_a_private_context(thread);
  shmem_long_p(&ended[thread], 1, right); /* written back as the thread ends */
  return NULL;
}

int main(void) {
  int level = 0;
  if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) != 0 || level != SHMEM_THREAD_MULTIPLE) {
    printf("skipped: no SHMEM_THREAD_MULTIPLE\n");
    return 77;
  }
  me = shmem_my_pe();
  right = (me + 1) % shmem_n_pes();
  left = (me + shmem_n_pes() - 1) % shmem_n_pes();
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  /* Before any call of this thread: the last writes of the threads are already in flight. */
  volatile long* mine = ended;
  long turns = 0;
  for (int i = 0; i < THREADS; ++i) {
    while (mine[i] == 0 && turns < 100000000) {
      if (++turns % 1000 == 0) (void)shmem_long_atomic_fetch(&shared[0][0], me);
    }
  }
  shmem_barrier_all();
  for (int t = 0; t < THREADS; ++t) {
    expect(ended[t], 1, "put at a thread's end", t);
    expect(own[t][0], -1, "put through a context that was destroyed", t);
    for (int i = 0; i < WORDS; ++i)
      expect((&shared[0][0])[i * THREADS + t], 10 * 1000 + i, "at the target", t);
  }
  printf("%s threads on PE %d\n", wrong ? "FAILED" : "ok", me);
  fflush(stdout);
  shmem_finalize();
  return wrong != 0;
}
