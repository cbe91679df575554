/* SHMEM_THREAD_MULTIPLE: at most one thread is inside a serialised context, and what was written
 * through other threads' contexts is not forgotten. */
#include <pthread.h>
#include <unistd.h>

#include "cases.h"

static long* signal_word(void) { return word_at(16 << 10); }
static long* data_word(void) { return word_at(32 << 10); }

static shmem_ctx_t serialised;
static pthread_t second;
static int other_started;

/* Starts write-back in all contexts. */
static void* synchronise(void* unused) {
  shmem_sync_all();
  return unused;
}

static void let_another_thread_synchronise(void) {
  if (other_started++) return;
  pthread_create(&second, NULL, synchronise, NULL);
  for (int i = 0; i < 50 && !put_arrived(data_word()); i++) usleep(1000);
  EXPECT(!put_arrived(data_word()));
}

/* Without data there is nothing to cache, but the signal is sent through the context. */
static void a_signal_without_data_has_its_context_for_itself(void) {
  EXPECT(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &serialised) == 0);
  shmem_ctx_long_p(serialised, data_word() + 64, 1, 1); /* may be sent at once */
  shmem_ctx_long_p(serialised, data_word(), 1, 1);
  stub_clear();
  stub_while_signalling = let_another_thread_synchronise;
  shmem_ctx_putmem_signal(serialised, heap, heap, 0, (uint64_t*)signal_word(), 1, SHMEM_SIGNAL_SET,
                          1);
  EXPECT(other_started == 1);
  pthread_join(second, NULL);
  stub_while_signalling = NULL;
  EXPECT(put_arrived(data_word()));
}

static pthread_barrier_t written, ended;

static void* write_through_a_private_context(void* unused) {
  shmem_ctx_t ctx;
  EXPECT(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
  shmem_ctx_long_p(ctx, data_word() + 64, 1, 1); /* may be sent at once */
  shmem_ctx_long_p(ctx, data_word(), 7, 1);
  pthread_barrier_wait(&written);
  pthread_barrier_wait(&ended);
  return unused;
}

/* The thread still exists, and makes no more calls. */
static void the_end_completes_private_contexts_of_other_threads(void) {
  pthread_barrier_init(&written, NULL, 2);
  pthread_barrier_init(&ended, NULL, 2);
  pthread_create(&second, NULL, write_through_a_private_context, NULL);
  pthread_barrier_wait(&written);
  shmem_quiet();
  EXPECT(remote_value(data_word()) == 0);
  shmem_finalize();
  EXPECT(remote_value(data_word()) == 7);
  pthread_barrier_wait(&ended);
  pthread_join(second, NULL);
}

const struct stub_case thread_cases[] = {{"a_signal_without_data_has_its_context_for_itself",
                                          a_signal_without_data_has_its_context_for_itself},
                                         {"the_end_completes_private_contexts_of_other_threads",
                                          the_end_completes_private_contexts_of_other_threads},
                                         {NULL, NULL}};
