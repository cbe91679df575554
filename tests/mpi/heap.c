/* Shows where the program's blocks lie, and whether Nearcache allocates beside them. The program's
 * own malloc counts the calls that come from Nearcache's object. Rank 0 prints
 *
 *   before OFFSETS           of blocks allocated before MPI_Init, from the heap's beginning
 *   from nearcache N         calls until MPI_Finalize has returned
 *   attached N               blocks attached to a dynamic window, up to a thousand; with the
 * argument `attach`
 *
 * With the argument `refuse` it refuses these calls, and fills Nearcache's own heap. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { blocks = 40, words = 512, most_attached = 1000, most_types = 100, type_blocks = 50000 };

void* __libc_malloc(size_t bytes);
void* __libc_realloc(void* block, size_t bytes);

static long from_nearcache;
static int refuses;

static int count(const void* caller) {
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "libnearcache"))
    return 0;
  return __atomic_add_fetch(&from_nearcache, 1, __ATOMIC_RELAXED) > 0;
}

void* malloc(size_t bytes) {
  const int ours = count(__builtin_return_address(0));
  return ours && refuses ? NULL : __libc_malloc(bytes);
}

void* realloc(void* block, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_realloc(block, bytes);
}

static char* heap_begin(void) {
  char line[256];
  unsigned long begin = 0;
  static char buffer[4096]; /* so that stdio allocates no buffer */
  FILE* maps = fopen("/proc/self/maps", "r");
  setvbuf(maps, buffer, _IOFBF, sizeof buffer);
  while (!begin && fgets(line, sizeof line, maps))
    if (strstr(line, "[heap]")) begin = strtoul(line, NULL, 16);
  fclose(maps);
  return (char*)begin;
}

/* Gets of each kind, in a window all of whose calls Nearcache sees. */
static void read_words(int rank, int ranks) {
  static long memory[words], got[words];
  MPI_Win win;
  MPI_Info info;
  const int target = (rank + 1) % ranks;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nearcache_mode", "always");
  MPI_Win_create(memory, sizeof memory, sizeof *memory, info, MPI_COMM_WORLD, &win);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, win);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < words; i++) {
      MPI_Get(got + i, 1, MPI_LONG, target, i, 1, MPI_LONG, win);
      MPI_Get(got + i, 1, MPI_LONG, target, i, 1, MPI_LONG, win);
      if (i % 32 == 0) MPI_Win_flush(target, win);
    }
  }
  MPI_Put(memory, 4, MPI_LONG, target, 0, 4, MPI_LONG, win);
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

/* Attaches small blocks one after the other, as a growing list does. */
static int attach(void) {
  MPI_Win win;
  int attached = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  while (attached < most_attached && MPI_Win_attach(win, malloc(500), 500) == MPI_SUCCESS)
    attached++;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
  return attached;
}

/* Datatypes of many blocks, which Nearcache keeps. */
static void fill_nearcaches_heap(int target) {
  static char memory[3 * type_blocks + most_types], got[3 * type_blocks + most_types];
  static int places[type_blocks];
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_lock_all(0, win);
  refuses = 1;
  for (int i = 0; i < most_types; i++) {
    MPI_Datatype type;
    for (int k = 0; k < type_blocks; k++) places[k] = 3 * k + (k > 0 ? i : 0);
    MPI_Type_create_indexed_block(type_blocks, 1, places, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Get(got, 1, type, target, 0, 1, type, win);
    MPI_Win_flush(target, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  char* block[blocks];
  int rank, ranks;
  for (int i = 0; i < blocks; i++) block[i] = malloc(16 + (size_t)i * i * 40);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && strcmp(argv[1], "refuse") == 0) fill_nearcaches_heap((rank + 1) % ranks);
  const int attached = argc > 1 && strcmp(argv[1], "attach") == 0 ? attach() : 0;
  read_words(rank, ranks);
  if (rank == 0) {
    const char* begin = heap_begin();
    printf("before");
    for (int i = 0; i < blocks; i++) printf(" %ld", (long)(block[i] - begin));
    printf("\nattached %d\n", attached);
  }
  MPI_Finalize();
  if (rank == 0) printf("from nearcache %ld\n", from_nearcache);
  return 0;
}
