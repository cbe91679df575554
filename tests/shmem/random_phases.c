// Random programs on all PEs against a serial replay.
//
// A program is a sequence of phases. In each, every byte of every PE's symmetric memory has one
// writer or none: the bytes are dealt out in pieces of a few bytes, so that PEs write side by side
// in one line. Every PE knows all PEs' programs, as they come from one seed, and keeps a copy of
// the expected contents of all memory. A get is compared where its bytes belong to this PE or to
// nobody. Between two phases the PEs synchronise in one of the ways that the contract allows; then
// all memory of every PE is compared.
//
// random_phases SEED OPERATIONS CONTEXTS
//
// OPERATIONS: the minimum for all PEs together. CONTEXTS: 1 to 3; each byte is written through one
// of them. Use 1 with Open MPI 4.1.4 over tcp: it hangs where two PEs wait in calls on created
// contexts, as each progresses its own context only.
#include "check.h"

enum {
  most_pes = 4,
  bytes = 12000,
  most_piece = 40,
  bulk = 5000,
  most_contexts = 3,
  words = 16,
  accesses_a_phase = 120
};

struct piece {
  int begin, end, writer;  // writer: -1 for nobody
};

// states of the random numbers that all PEs draw together, and of this PE's own
static uint64_t common, own;
static unsigned char* heap;        // half of the memory is the heap's,
static unsigned char data[bytes];  // half static data
static long* counters;             // words that all PEs change by atomics
static unsigned char known[2][most_pes][bytes];
static signed char writer_of[2][most_pes][bytes];
static signed char context_of[2][most_pes][bytes];
static long sums[most_pes][words];
static int contexts;
static shmem_ctx_t context[most_contexts];
static unsigned char sources[256 * 1024];  // of non-blocking puts
static size_t sources_used;
static long operations;

static uint64_t next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}
static int below(uint64_t* state, int limit) { return (int)(next(state) % (uint64_t)limit); }

static unsigned char* memory(int part) { return part == 0 ? heap : data; }

// Assigns the writers of the next phase.
static void deal_out(void) {
  const int longest = 1 + below(&common, most_piece);
  const int only_static = below(&common, 4) == 0;  // one writer for all: long runs
  for (int part = 0; part < 2; ++part) {
    for (int pe = 0; pe < pes; ++pe) {
      for (int at = 0; at < bytes;) {
        int end = at + (only_static ? bytes : 1 + below(&common, longest));
        if (end > bytes) end = bytes;
        const int writer = below(&common, pes + 1) - 1, ctx = below(&common, contexts);
        for (; at < end; ++at) {
          writer_of[part][pe][at] = (signed char)writer;
          context_of[part][pe][at] = (signed char)ctx;
        }
      }
    }
  }
}

struct access {
  int part, pe, at, length, ctx, stride, nbi;
};

static struct access draw(uint64_t* state) {
  struct access a;
  a.part = below(state, 2);
  a.pe = below(state, pes);
  a.ctx = below(state, contexts);
  a.nbi = below(state, 4) == 0;
  a.length = 1 + below(state, below(state, 6) == 0 ? 600 : 32);
  if (below(state, 40) == 0) a.length = bulk;
  a.at = below(state, 3) == 0 ? below(state, 300) : below(state, bytes);
  if (below(state, 12) == 0) a.at = bytes - 1 - below(state, 40);  // the end of the segment
  if (a.at + a.length > bytes) a.length = bytes - a.at;
  a.stride = below(state, 6) == 0 ? 2 + below(state, 5) : 1;
  return a;
}

// Returns the length of the run from the start of the access that `pe` may write through its
// context.
static int writable(const struct access* a, int pe) {
  int length = 0;
  while (length < a->length && writer_of[a->part][a->pe][a->at + length] == pe &&
         context_of[a->part][a->pe][a->at + length] == a->ctx)
    ++length;
  return length;
}

static unsigned char* source(int length) {
  if (sources_used + (size_t)length > sizeof sources) {
    for (int i = 0; i < contexts; ++i) shmem_ctx_quiet(context[i]);
    sources_used = 0;
  }
  unsigned char* from = sources + sources_used;
  sources_used += (size_t)length;
  return from;
}

// `pe` writes: to memory if it is this PE, otherwise only to the copy.
static void write_some(uint64_t* state, int pe) {
  struct access a = draw(state);
  a.length = writable(&a, pe);
  if (a.length == 0) return;
  const int count = (a.length - 1) / a.stride + 1;
  unsigned char bytes_written[bulk], *from = bytes_written;
  const unsigned char seed = (unsigned char)below(state, 256);
  if (pe == me && a.nbi && a.stride == 1) from = source(a.length);
  for (int i = 0; i < count; ++i) {
    from[i] = (unsigned char)(seed + 37 * i);
    known[a.part][a.pe][a.at + i * a.stride] = from[i];
  }
  if (pe != me) return;
  ++operations;
  unsigned char* to = memory(a.part) + a.at;
  const shmem_ctx_t ctx = context[a.ctx];
  if (a.stride > 1) {
    shmem_ctx_char_iput(ctx, (char*)to, (const char*)from, a.stride, 1, (size_t)count, a.pe);
  } else if (a.nbi) {
    shmem_ctx_putmem_nbi(ctx, to, from, (size_t)a.length, a.pe);
  } else {
    shmem_ctx_putmem(ctx, to, from, (size_t)a.length, a.pe);
  }
  memset(bytes_written, 0xee, sizeof bytes_written);
}

static void compare(const char* what, const struct access* a, const unsigned char* found, int all) {
  for (int i = 0; i * a->stride < a->length; ++i) {
    const int at = a->at + i * a->stride;
    const int writer = writer_of[a->part][a->pe][at];
    const int mine = writer == me && context_of[a->part][a->pe][at] == a->ctx;
    if (!all && writer != -1 && !mine) continue;
    if (found[i] == known[a->part][a->pe][at]) continue;
    return fail("%s of %d bytes by %d at %d of part %d of PE %d: byte %d is %d, not %d", what,
                a->length, a->stride, a->at, a->part, a->pe, at, found[i],
                known[a->part][a->pe][at]);
  }
}

// `all`: nobody is writing, so every byte must be right.
static void read_some(uint64_t* state, int all) {
  const struct access a = draw(state);
  const unsigned char* from = memory(a.part) + a.at;
  const shmem_ctx_t ctx = context[a.ctx];
  unsigned char to[bulk];
  memset(to, 0xdd, sizeof to);
  ++operations;
  if (a.stride > 1) {
    shmem_ctx_char_iget(ctx, (char*)to, (const char*)from, 1, a.stride,
                        (size_t)((a.length - 1) / a.stride + 1), a.pe);
  } else if (a.nbi) {
    shmem_ctx_getmem_nbi(ctx, to, from, (size_t)a.length, a.pe);
    shmem_ctx_quiet(ctx);
  } else {
    shmem_ctx_getmem(ctx, to, from, (size_t)a.length, a.pe);
  }
  compare(all ? "a get between phases" : "a get", &a, to, all);
}

// Changes a counter, at least in the copy.
static void count_up(uint64_t* state, int pe) {
  const int target = below(state, pes), word = below(state, words), kind = below(state, 3);
  const long by = kind == 1 ? 1 : below(state, 1000);
  sums[target][word] += by;
  if (pe != me) return;
  ++operations;
  if (kind == 0)
    shmem_long_atomic_add(counters + word, by, target);
  else if (kind == 1)
    shmem_long_atomic_inc(counters + word, target);
  else
    shmem_long_atomic_fetch_add(counters + word, by, target);
}

static void order_some(uint64_t* state) {
  const struct access a = draw(state);
  switch (below(state, 4)) {
    case 0:
      shmem_ctx_quiet(context[a.ctx]);
      break;
    case 1:
      shmem_ctx_fence(context[a.ctx]);
      break;
    default:
      nearcache_shmem_prefetch(memory(a.part) + a.at, (size_t)a.length * 3, a.pe);
  }
}

// Runs the program of one PE in a phase. Reads and ordering calls of other PEs leave no trace in
// the copy; the draws must be the same for all.
static void run_program(int pe, uint64_t state) {
  for (int i = 0; i < accesses_a_phase; ++i) {
    const int kind = below(&state, 16);
    uint64_t draws = next(&state);  // a state of its own, so that the number of draws is free
    if (kind < 7)
      write_some(&draws, pe);
    else if (kind == 7)
      count_up(&draws, pe);
    else if (pe != me)
      continue;
    else if (kind == 8)
      order_some(&draws);
    else
      read_some(&draws, 0);
  }
}

static void quiet_all(void) {
  for (int i = 0; i < contexts; ++i) shmem_ctx_quiet(context[i]);
}

static long flags[most_pes];  // symmetric: how often each PE has arrived here
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 8], sync_words[SHMEM_REDUCE_SYNC_SIZE];
static long sum_from, sum_to;
static long gathered[most_pes], mine_to_gather;

// Synchronises in one of the ways after which every PE must see all previous writes.
static void synchronise(void) {
  static long round;
  const int way = below(&common, 6);
  ++round;
  // A barrier completes only the default context's writes.
  for (int i = 1; i < contexts; ++i) shmem_ctx_quiet(context[i]);
  switch (way) {
    case 0:
      shmem_barrier_all();
      break;
    case 1:
      shmem_barrier(0, 0, pes, sync_words);
      break;
    case 2:
      quiet_all();
      shmem_sync_all();
      break;
    case 3:  // a flag to each PE
      quiet_all();
      for (int pe = 0; pe < pes; ++pe) shmem_long_p(&flags[me], round, pe);
      for (int pe = 0; pe < pes; ++pe) shmem_long_wait_until(&flags[pe], SHMEM_CMP_GE, round);
      break;
    case 4:
      quiet_all();
      sum_from = me;
      shmem_long_sum_to_all(&sum_to, &sum_from, 1, 0, 0, pes, work, sync_words);
      CHECK_EQUAL(sum_to, pes * (pes - 1) / 2);
      break;
    default:
      quiet_all();
      mine_to_gather = me + round;
      shmem_fcollect64(gathered, &mine_to_gather, 1, 0, 0, pes, sync_words);
      for (int pe = 0; pe < pes; ++pe) CHECK_EQUAL(gathered[pe], pe + round);
  }
}

static void compare_own_memory(void) {
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < bytes; ++i) {
      if (memory(part)[i] == known[part][me][i]) continue;
      fail("byte %d of part %d of this PE is %d, not %d", i, part, memory(part)[i],
           known[part][me][i]);
      break;
    }
  }
  for (int i = 0; i < words; ++i) CHECK_EQUAL(counters[i], sums[me][i]);
}

static void run_phase(void) {
  deal_out();
  const uint64_t programs = next(&common) << 8;
  for (int i = 0; i < pes; ++i) {
    // this PE's own memory first: others' writes are not known yet when it reads
    const int pe = (me + i) % pes;
    run_program(pe, programs + (uint64_t)pe);
  }
  synchronise();
  for (int i = 0; i < 12; ++i) {
    uint64_t draws = next(&own);
    read_some(&draws, 1);
  }
  compare_own_memory();
  shmem_barrier_all();
}

static void fill(void) {
  for (int part = 0; part < 2; ++part) {
    for (int pe = 0; pe < pes; ++pe)
      for (int i = 0; i < bytes; ++i) known[part][pe][i] = (unsigned char)next(&common);
    memcpy(memory(part), known[part][me], bytes);
  }
}

int main(int argc, char** argv) {
  check_start();
  if (argc != 4 || pes > most_pes) return 2;
  contexts = atoi(argv[3]);
  if (contexts < 1 || contexts > most_contexts) return 2;
  static char name[100];
  snprintf(name, sizeof name, "random phases, seed %s", argv[1]);
  current = name;
  common = strtoull(argv[1], NULL, 10) * 1000003;
  own = common + (uint64_t)me + 1;
  const long wanted = atol(argv[2]) / pes;
  heap = shmem_malloc(bytes);
  counters = shmem_calloc(words, sizeof *counters);
  context[0] = SHMEM_CTX_DEFAULT;
  for (int i = 1; i < contexts; ++i) shmem_ctx_create(i == 1 ? 0 : SHMEM_CTX_PRIVATE, &context[i]);
  for (size_t i = 0; i < sizeof sync_words / sizeof *sync_words; ++i)
    sync_words[i] = SHMEM_SYNC_VALUE;
  fill();
  shmem_barrier_all();
  long phases = 0;
  // PEs issue different numbers of operations, so they agree on the number of phases instead.
  for (; phases * (accesses_a_phase * 3 / 4) < wanted; ++phases) run_phase();
  for (int i = 1; i < contexts; ++i) retire_context(context[i], &sum_from);
  printf("%s %s: PE %d, %ld operations in %ld phases\n", failures == 0 ? "ok" : "FAILED", name, me,
         operations, phases);
  shmem_free(counters);
  shmem_free(heap);
  return check_end();
}
