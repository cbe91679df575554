/* The functions of the OpenSHMEM 1.6 stub that do something: setup, memory, contexts, and the
 * transfers that the cache itself calls. */
#include "stub.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks with hints lie in a separate part, a gap behind the others. */
enum { heap_bytes = 1 << 21, gap = 1 << 16, hinted_bytes = 1 << 16, most_calls = 4096 };

enum { world_pes = 2 };
struct stub_context {
  shmem_team_t team;
  long options;
};
struct stub_team {
  int pes, members[world_pes], told;
};

static struct stub_team world = {2, {0, 1}, 2}, reversed = {2, {1, 0}, 2}, of_one = {1, {1}, 1},
                        untold = {2, {0, 1}, 1};
static struct stub_context default_context = {&world, 0};
shmem_ctx_t SHMEM_CTX_DEFAULT = &default_context;
shmem_team_t SHMEM_TEAM_WORLD = &world;
shmem_team_t stub_team_reversed = &reversed, stub_team_of_one = &of_one, stub_team_untold = &untold;

enum { all_bytes = heap_bytes + gap + hinted_bytes };
static char* heaps[2]; /* not static data, which would be symmetric */
static size_t used, hinted_used = heap_bytes + gap;
static struct stub_call calls[most_calls];
static int call_count;
uint64_t stub_result;
void (*stub_while_signalling)(void);

void stub_record(const char* name, const uint64_t* arguments, int count) {
  if (call_count == most_calls) abort();
  if (stub_while_signalling && strstr(name, "_signal")) stub_while_signalling();
  struct stub_call* call = &calls[call_count++];
  call->name = name;
  call->count = count;
  for (int i = 0; i < count; i++) call->arguments[i] = arguments[i];
}
__attribute__((constructor)) static void take_memory(void) {
  for (int pe = 0; pe < 2; pe++) {
    heaps[pe] = mmap(NULL, all_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (heaps[pe] == MAP_FAILED) abort();
  }
}
int stub_calls(void) { return call_count; }
const struct stub_call* stub_call(int index) { return &calls[index]; }
void stub_clear(void) { call_count = 0; }
void* stub_remote(const void* object) { return heaps[1] + ((const char*)object - heaps[0]); }

/* Returns the address of an object in a PE, as the context numbers PEs; the stub uses PE 0 for a PE
 * that does not exist. */
static char* at(shmem_ctx_t ctx, const void* object, int pe) {
  const int there = pe >= 0 && pe < ctx->team->pes ? pe : 0;
  return ctx->team->members[there] == 0 ? (char*)(uintptr_t)object : stub_remote(object);
}

static int starts, thread_level = SHMEM_THREAD_SINGLE;
void shmem_init(void) { starts++; }
int shmem_init_thread(int requested, int* provided) {
  starts++;
  *provided = thread_level = requested;
  return 0;
}
void shmem_query_initialized(int* initialized) { *initialized = starts; }
void start_pes(int npes) { (void)npes; }
void shmem_finalize(void) {
  starts--;
  stub_record("shmem_finalize", NULL, 0);
}
void shmem_global_exit(int status) { exit(status); }
int shmem_my_pe(void) { return 0; }
int shmem_n_pes(void) { return world.pes; }
int shmem_team_n_pes(shmem_team_t team) { return team->pes; }
/* into the world team only */
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team) {
  if (dest_team != &world || src_pe < 0 || src_pe >= src_team->told) return -1;
  return src_team->members[src_pe];
}
void shmem_query_thread(int* provided) { *provided = thread_level; }
int shmem_pe_accessible(int pe) { return pe == 0 || pe == 1; }
int shmem_addr_accessible(const void* addr, int pe) {
  const char* object = addr;
  return shmem_pe_accessible(pe) && object >= heaps[0] && object < heaps[0] + all_bytes;
}
void* shmem_ptr(const void* dest, int pe) { return pe == 0 ? (void*)(uintptr_t)dest : NULL; }
void* shmem_team_ptr(shmem_team_t team, const void* dest, int pe) {
  return shmem_ptr(dest, team->members[pe]);
}

static void* block_of(size_t* part_used, size_t end, size_t alignment, size_t size) {
  const size_t begin = (*part_used + alignment - 1) / alignment * alignment;
  if (begin + size > end) return NULL;
  *part_used = begin + size;
  return heaps[0] + begin;
}
void* shmem_align(size_t alignment, size_t size) {
  return block_of(&used, heap_bytes, alignment, size);
}
void* shmem_malloc(size_t size) { return shmem_align(64, size); }
/* memory is never reused, so it is still zero */
void* shmem_calloc(size_t count, size_t size) { return shmem_malloc(count * size); }
void* shmem_malloc_with_hints(size_t size, long hints) {
  if (hints == 0) return shmem_malloc(size);
  return block_of(&hinted_used, all_bytes, 64, size);
}
void* shmem_realloc(void* ptr, size_t size) {
  void* larger = shmem_malloc_with_hints(size, (char*)ptr >= heaps[0] + heap_bytes);
  const size_t left = (size_t)(heaps[0] + all_bytes - (char*)ptr);
  if (larger && ptr) memmove(larger, ptr, size < left ? size : left);
  return larger;
}
void shmem_free(void* ptr) { (void)ptr; }

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
  *ctx = calloc(1, sizeof **ctx);
  if (!*ctx) return 1;
  (*ctx)->team = team;
  (*ctx)->options = options;
  return 0;
}
int shmem_ctx_create(long options, shmem_ctx_t* ctx) {
  return shmem_team_create_ctx(&world, options, ctx);
}
void shmem_ctx_destroy(shmem_ctx_t ctx) { free(ctx); }

#define WORD(pointer) (uint64_t)(uintptr_t)(pointer)
/* A transfer, blocking or not, with and without a context. It takes place at once, as the standard
 * allows. */
#define TRANSFER(name, to, from)                                                                   \
  void shmem_##name(void* dest, const void* source, size_t nelems, int pe) {                       \
    stub_record("shmem_" #name,                                                                    \
                (const uint64_t[]){WORD(dest), WORD(source), nelems, (uint64_t)pe}, 4);            \
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                                     \
    memcpy(to, from, nelems);                                                                      \
  }                                                                                                \
  void shmem_ctx_##name(shmem_ctx_t ctx, void* dest, const void* source, size_t nelems, int pe) {  \
    stub_record("shmem_ctx_" #name,                                                                \
                (const uint64_t[]){WORD(ctx), WORD(dest), WORD(source), nelems, (uint64_t)pe}, 5); \
    memcpy(to, from, nelems);                                                                      \
  }
TRANSFER(putmem, at(ctx, dest, pe), source)
TRANSFER(putmem_nbi, at(ctx, dest, pe), source)
TRANSFER(getmem, dest, at(ctx, source, pe))
TRANSFER(getmem_nbi, dest, at(ctx, source, pe))
