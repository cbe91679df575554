/* upc_io.h: every function, against POSIX on the same file. Arguments: a folder, a seed, the number
 * of elements of a large array. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coll.h"

static char name[400];

static ncupc_ptr opened(int flags) {
  const ncupc_ptr fd = upc_all_fopen(name, flags, 0, NULL);
  COLL_CHECK(!ncupc_is_null(fd), "flags 0x%x: %s", flags, strerror(errno));
  return fd;
}

static void closed(ncupc_ptr fd) { COLL_CHECK(upc_all_fclose(fd) == 0, "%s", strerror(errno)); }

/* Reads the file's bytes through POSIX. */
static size_t contents(char* to, size_t room) {
  const int descriptor = open(name, O_RDONLY);
  COLL_CHECK(descriptor >= 0, "%s", strerror(errno));
  const ssize_t got = read(descriptor, to, room);
  close(descriptor);
  return (size_t)got;
}

static char pattern(size_t at, int salt) { return (char)(at * 31 + at / 256 + (size_t)salt * 7); }

static void check_opening(void) {
  const struct {
    int flags, error;
  } wrong[] = {{UPC_RDWR, EINVAL},
               {UPC_COMMON_FP, EINVAL},
               {UPC_RDWR | UPC_COMMON_FP | UPC_INDIVIDUAL_FP, EINVAL},
               {UPC_RDONLY | UPC_WRONLY | UPC_COMMON_FP, EINVAL},
               {UPC_RDONLY | UPC_COMMON_FP | UPC_TRUNC, EINVAL},
               {UPC_RDWR | UPC_COMMON_FP | UPC_EXCL, EINVAL},
               {UPC_RDWR | UPC_COMMON_FP | 0x10000, EINVAL},
               {UPC_RDONLY | UPC_COMMON_FP, ENOENT}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    errno = 0;
    COLL_CHECK(
        ncupc_is_null(upc_all_fopen(name, wrong[i].flags, 0, NULL)) && errno == wrong[i].error,
        "0x%x: %d", wrong[i].flags, errno);
  }
  closed(opened(UPC_WRONLY | UPC_INDIVIDUAL_FP | UPC_CREATE | UPC_EXCL));
  COLL_CHECK(ncupc_is_null(upc_all_fopen(
                 name, UPC_WRONLY | UPC_INDIVIDUAL_FP | UPC_CREATE | UPC_EXCL, 0, NULL)) &&
                 errno == EEXIST,
             "%d", errno);
  COLL_CHECK(
      ncupc_is_null(upc_all_fopen(NULL, UPC_RDONLY | UPC_COMMON_FP, 0, NULL)) && errno == EINVAL,
      "no name");
  closed(opened(UPC_RDONLY | UPC_COMMON_FP | UPC_DELETE_ON_CLOSE));
  COLL_CHECK(access(name, F_OK) != 0, "it is still there");
  NCUPC_BARRIER();
}

static void check_sizes_and_places(int pointers) {
  const ncupc_ptr fd = opened(UPC_RDWR | UPC_CREATE | UPC_TRUNC | pointers);
  COLL_CHECK(upc_all_fget_size(fd) == 0 && upc_all_fseek(fd, 0, UPC_SEEK_CUR) == 0, "a new file");
  COLL_CHECK(upc_all_fset_size(fd, 1000) == 0 && upc_all_fget_size(fd) == 1000, "longer");
  COLL_CHECK(upc_all_fset_size(fd, 300) == 0 && upc_all_fget_size(fd) == 300, "shorter");
  COLL_CHECK(upc_all_fpreallocate(fd, 200) == 0 && upc_all_fget_size(fd) == 300, "there already");
  COLL_CHECK(upc_all_fpreallocate(fd, 5000) == 0 && upc_all_fget_size(fd) == 5000, "preallocated");
  const int mine = pointers == UPC_INDIVIDUAL_FP ? MYTHREAD : 0;
  COLL_CHECK(upc_all_fseek(fd, 100 + mine, UPC_SEEK_SET) == 100 + mine, "set");
  COLL_CHECK(upc_all_fseek(fd, -30, UPC_SEEK_CUR) == 70 + mine, "moved");
  COLL_CHECK(upc_all_fseek(fd, 10, UPC_SEEK_END) == 5010, "behind the end");
  errno = 0;
  COLL_CHECK(upc_all_fseek(fd, -1, UPC_SEEK_SET) == -1 && errno == EINVAL, "before the begin");
  COLL_CHECK(upc_all_fseek(fd, 0, 99) == -1 && upc_all_fseek(fd, INT64_MAX, UPC_SEEK_CUR) == -1,
             "no place");
  COLL_CHECK(upc_all_fset_size(fd, -1) == -1 && errno == EINVAL, "no size");
  COLL_CHECK(upc_all_fseek(fd, 0, UPC_SEEK_CUR) == 5010, "an error moves nothing");
  closed(fd);
  const ncupc_ptr end = opened(UPC_RDWR | UPC_APPEND | pointers);
  COLL_CHECK(upc_all_fseek(end, 0, UPC_SEEK_CUR) == 5000, "append");
  closed(end);
}

static void check_fcntl(void) {
  const struct upc_hint given[] = {{"striping", "4"}, {"buffering", "on"}};
  const int flags = UPC_RDWR | UPC_COMMON_FP | UPC_CREATE | UPC_TRUNC;
  const ncupc_ptr fd = upc_all_fopen(name, flags, 2, given);
  const struct upc_hint *hints = NULL, another = {"striping", "8"}, third = {"third", "x"};
  const char* known = NULL;
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_HINTS, &hints) == 2 && hints != given &&
                 !strcmp(hints[1].value, "on"),
             "hints");
  COLL_CHECK(upc_all_fcntl(fd, UPC_SET_HINT, (void*)&another) == 0 &&
                 upc_all_fcntl(fd, UPC_SET_HINT, (void*)&third) == 0,
             "set");
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_HINTS, &hints) == 3 && !strcmp(hints[0].value, "8") &&
                 !strcmp(hints[2].key, "third"),
             "hints");
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_FN, &known) == 0 && !strcmp(known, name), "name");
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_FL, NULL) == flags &&
                 upc_all_fcntl(fd, UPC_GET_CA_SEMANTICS, NULL) == 0,
             "flags");
  COLL_CHECK(upc_all_fcntl(fd, UPC_SET_STRONG_CA_SEMANTICS, NULL) == 0, "strong");
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_CA_SEMANTICS, NULL) == UPC_STRONG_CA, "strong");
  COLL_CHECK(upc_all_fcntl(fd, UPC_SET_WEAK_CA_SEMANTICS, NULL) == 0 &&
                 upc_all_fcntl(fd, UPC_GET_FL, NULL) == flags,
             "weak");
  COLL_CHECK(upc_all_fseek(fd, 77, UPC_SEEK_SET) == 77 &&
                 upc_all_fcntl(fd, UPC_GET_FP, NULL) == UPC_COMMON_FP,
             "common");
  COLL_CHECK(upc_all_fcntl(fd, UPC_SET_INDIVIDUAL_FP, NULL) == 0 &&
                 upc_all_fseek(fd, 0, UPC_SEEK_CUR) == 0,
             "at the begin");
  COLL_CHECK(upc_all_fcntl(fd, UPC_GET_FP, NULL) == UPC_INDIVIDUAL_FP, "individual");
  COLL_CHECK(upc_all_fcntl(fd, UPC_SET_COMMON_FP, NULL) == 0 &&
                 upc_all_fcntl(fd, UPC_GET_FL, NULL) == flags,
             "common again");
  errno = 0;
  COLL_CHECK(upc_all_fcntl(fd, 12345, NULL) == -1 && errno == EINVAL, "no command");
  COLL_CHECK(upc_all_fcntl(fd, UPC_ASYNC_OUTSTANDING, NULL) == 0, "nothing under way");
  closed(fd);
}

/* Each thread accesses its part by its individual pointer; also reads at the end of the file, and
 * errors. */
static void check_local(void) {
  enum { part = 5000 };
  char mine[part], back[part];
  for (size_t i = 0; i < part; ++i) mine[i] = pattern(i + (size_t)MYTHREAD * part, 1);
  const ncupc_ptr fd =
      opened(UPC_RDWR | UPC_INDIVIDUAL_FP | UPC_CREATE | UPC_TRUNC | UPC_STRONG_CA);
  COLL_CHECK(upc_all_fseek(fd, (upc_off_t)MYTHREAD * part, UPC_SEEK_SET) >= 0, "seek");
  COLL_CHECK(upc_all_fwrite_local(fd, mine, 10, 300, 0) == 3000, "%s", strerror(errno));
  COLL_CHECK(upc_all_fwrite_local(fd, mine + 3000, 1, 2000, UPC_IN_NOSYNC | UPC_OUT_NOSYNC) == 2000,
             "%s", strerror(errno));
  COLL_CHECK(upc_all_fseek(fd, 0, UPC_SEEK_CUR) == (upc_off_t)(MYTHREAD + 1) * part &&
                 upc_all_fsync(fd) == 0,
             "moved on");
  COLL_CHECK(upc_all_fget_size(fd) == (upc_off_t)THREADS * part, "size");
  const int next = (MYTHREAD + 1) % THREADS;
  upc_all_fseek(fd, (upc_off_t)next * part, UPC_SEEK_SET);
  COLL_CHECK(upc_all_fread_local(fd, back, 1, part, 0) == part, "read");
  for (size_t i = 0; i < part; ++i)
    COLL_CHECK(back[i] == pattern(i + (size_t)next * part, 1), "byte %zu", i);
  upc_all_fseek(fd, -7, UPC_SEEK_END);
  COLL_CHECK(upc_all_fread_local(fd, back, 5, 100, 0) == 7 &&
                 upc_all_fseek(fd, 0, UPC_SEEK_CUR) == (upc_off_t)THREADS * part,
             "up to the end");
  COLL_CHECK(upc_all_fread_local(fd, back, 1, 1, 0) == 0, "nothing more");
  /* A thread may have nothing to do. */
  COLL_CHECK(upc_all_fread_local(fd, NULL, 0, 0, 0) == 0, "nothing");
  errno = 0;
  COLL_CHECK(upc_all_fread_local(fd, MYTHREAD == 0 ? NULL : back, 1, 1, 0) == -1 && errno == EINVAL,
             "one thread's error is all threads'");
  COLL_CHECK(upc_all_fread_local(fd, back, SIZE_MAX, 2, 0) == -1 && errno == EINVAL,
             "too many bytes");
  COLL_CHECK(
      upc_all_fread_local(fd, back, 1, 1, UPC_IN_NOSYNC | UPC_IN_MYSYNC) == -1 && errno == EINVAL,
      "two flags of a kind");
  upc_all_fcntl(fd, UPC_SET_COMMON_FP, NULL);
  COLL_CHECK(upc_all_fread_local(fd, back, 1, 1, 0) == -1 && errno == EINVAL, "a common pointer");
  closed(fd);
  const ncupc_ptr only_read = opened(UPC_RDONLY | UPC_INDIVIDUAL_FP);
  errno = 0;
  COLL_CHECK(upc_all_fwrite_local(only_read, mine, 1, 1, 0) == -1 && errno == EBADF &&
                 upc_all_fset_size(only_read, 1) == -1,
             "read only");
  closed(only_read);
}

/* A shared array of any layout, by the common and by individual file pointers. */
static void check_shared(size_t block, size_t size, size_t nmemb, int pointers) {
  const size_t bytes = size * nmemb, head = 13;
  const size_t local = block == 0 ? bytes : (nmemb / (block * (size_t)THREADS) + 1) * block * size;
  const ncupc_ptr array = upc_all_alloc((size_t)THREADS, local + 64);
  const ncupc_ptr first = coll_at(block == 0 ? THREADS - 1 : 0, ncupc_address(array));
  char* const all = malloc(head + (bytes + 1) * (size_t)THREADS);
  for (size_t i = 0; i < nmemb; ++i) {
    const ncupc_ptr element = ncupc_add(first, (ptrdiff_t)i, size, block);
    for (size_t k = 0; k < size && ncupc_thread(element) == (size_t)MYTHREAD; ++k) {
      NCUPC_PUT(char, ncupc_add_bytes(element, (ptrdiff_t)k), pattern(i * size + k, 2));
    }
  }
  const int common = pointers == UPC_COMMON_FP;
  const ncupc_ptr fd = opened(UPC_RDWR | UPC_CREATE | UPC_TRUNC | pointers);
  /* each thread has a copy of its own, or all share one */
  const size_t mine = head + (common ? 0 : (size_t)MYTHREAD * bytes);
  upc_all_fseek(fd, (upc_off_t)mine, UPC_SEEK_SET);
  COLL_CHECK(upc_all_fwrite_shared(fd, first, block, size, nmemb,
                                   UPC_IN_ALLSYNC | UPC_OUT_MYSYNC) == (upc_off_t)bytes,
             "%s", strerror(errno));
  COLL_CHECK(upc_all_fseek(fd, 0, UPC_SEEK_CUR) == (upc_off_t)(mine + bytes), "moved on");
  const size_t got = contents(all, head + bytes * (size_t)THREADS + 1);
  COLL_CHECK(got == head + bytes * (common ? 1 : (size_t)THREADS), "%zu bytes in the file", got);
  for (size_t i = head; i < got; ++i)
    COLL_CHECK(all[i] == pattern((i - head) % bytes, 2), "byte %zu of blocks of %zu", i, block);
  NCUPC_BARRIER();
  /* Reads back with other contents in the file, which every thread must see. */
  for (size_t i = 0; i < bytes; ++i) all[i] = pattern(i, 3);
  if (MYTHREAD == 0) {
    const int descriptor = open(name, O_WRONLY | O_TRUNC);
    COLL_CHECK(pwrite(descriptor, all, bytes, (off_t)head) == (ssize_t)bytes, "%s",
               strerror(errno));
    close(descriptor);
  }
  NCUPC_BARRIER();
  upc_all_fseek(fd, (upc_off_t)head, UPC_SEEK_SET);
  const int reader = common || MYTHREAD == THREADS - 1;
  const upc_off_t read = reader ? upc_all_fread_shared(fd, first, block, size, nmemb, 0)
                                : upc_all_fread_shared(fd, NCUPC_NULL, 0, 0, 0, 0);
  COLL_CHECK(read == (reader ? (upc_off_t)bytes : 0), "%ld bytes: %s", (long)read, strerror(errno));
  for (size_t i = 0; i < nmemb; i += 1 + nmemb / 200) {
    const ncupc_ptr element = ncupc_add(first, (ptrdiff_t)i, size, block);
    for (size_t k = 0; k < size; ++k)
      COLL_CHECK(NCUPC_GET(char, ncupc_add_bytes(element, (ptrdiff_t)k)) == all[i * size + k],
                 "element %zu", i);
  }
  /* Beyond the end of the file. */
  upc_all_fseek(fd, -(upc_off_t)(bytes / 2), UPC_SEEK_END);
  COLL_CHECK(upc_all_fread_shared(fd, first, block, size, nmemb, 0) == (upc_off_t)(bytes / 2),
             "half");
  COLL_CHECK(upc_all_fread_shared(fd, first, block, size, nmemb, 0) == 0, "nothing");
  closed(fd);
  upc_all_free(array);
  free(all);
}

/* Lists of random runs: the file has a hole between any two of a thread's parts. */
static void check_lists(int shared, int asynchronous) {
  enum { most = 30, room = 4096 };
  const ncupc_ptr array = upc_all_alloc((size_t)THREADS, room);
  const size_t block = coll_random(3) == 0 ? 0 : 8 * (1 + coll_random(20));
  struct upc_filevec file[most];
  struct upc_local_memvec here[most];
  struct upc_shared_memvec there[most];
  char mine[room], back[room], direct[2 * room];
  const size_t count = 1 + coll_next(&coll_private_state) % (most - 1);
  const upc_off_t base = (upc_off_t)MYTHREAD * 2 * room;
  size_t at = 0, bytes = 0;
  for (size_t i = 0; i < room; ++i) mine[i] = pattern(i, MYTHREAD);
  for (size_t i = 0; i < count; ++i) {
    const size_t length = coll_next(&coll_private_state) % 60;
    here[i] = (struct upc_local_memvec){mine + at, length};
    at += length + coll_next(&coll_private_state) % 10;
    bytes += length;
  }
  there[0] = (struct upc_shared_memvec){coll_at(MYTHREAD, ncupc_address(array)), 0, bytes};
  if (block != 0 && MYTHREAD == 0)
    there[0] = (struct upc_shared_memvec){coll_at(0, ncupc_address(array)), block, bytes / 2};
  else
    there[0].len = bytes / 2;
  there[1] = (struct upc_shared_memvec){coll_at(MYTHREAD, ncupc_address(array) + 3000), 0,
                                        bytes - bytes / 2};
  /* away from thread 0's blocks */
  if (MYTHREAD != 0) there[0].baseaddr = coll_at(MYTHREAD, ncupc_address(array) + 1200);
  size_t left = bytes, entries = 0, in_file = 0;
  while (left != 0 && entries + 1 < most) {
    size_t length = coll_next(&coll_private_state) % 120;
    if (length > left || entries + 2 == most) length = left;
    file[entries++] = (struct upc_filevec){base + (upc_off_t)in_file, length};
    in_file += length + 5;
    left -= length;
  }
  const ncupc_ptr fd = opened(UPC_RDWR | UPC_CREATE | UPC_TRUNC | UPC_INDIVIDUAL_FP);
  upc_off_t result = 0;
  const upc_flag_t flags = asynchronous == 2 ? UPC_ASYNC : 0;
  if (!shared) {
    if (asynchronous == 1)
      upc_all_fwrite_list_local_async(fd, count, here, entries, file, 0);
    else
      result = upc_all_fwrite_list_local(fd, count, here, entries, file, flags);
  } else {
    /* First puts the contents of the local list, as consecutive bytes, into the shared runs. */
    size_t placed = 0;
    for (size_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < here[i].len; ++k, ++placed) {
        const int second = placed >= bytes / 2;
        const struct upc_shared_memvec* run = &there[second];
        NCUPC_PUT(char,
                  ncupc_add(run->baseaddr, (ptrdiff_t)(placed - (second ? bytes / 2 : 0)), 1,
                            run->blocksize),
                  ((char*)here[i].baseaddr)[k]);
      }
    }
    if (asynchronous == 1)
      upc_all_fwrite_list_shared_async(fd, 2, there, entries, file, 0);
    else
      result = upc_all_fwrite_list_shared(fd, 2, there, entries, file, flags);
  }
  if (asynchronous) {
    COLL_CHECK(upc_all_fcntl(fd, UPC_ASYNC_OUTSTANDING, NULL) == 1, "under way");
    errno = 0;
    COLL_CHECK(upc_all_fseek(fd, 0, UPC_SEEK_SET) == -1 && errno == EINVAL &&
                   upc_all_fget_size(fd) == -1 && upc_all_fclose(fd) == -1,
               "meanwhile");
    result = upc_all_fwait_async(fd);
    COLL_CHECK(upc_all_fcntl(fd, UPC_ASYNC_OUTSTANDING, NULL) == 0 && upc_all_fwait_async(fd) == -1,
               "waited for");
  }
  COLL_CHECK(result == (upc_off_t)bytes, "%ld of %zu: %s", (long)result, bytes, strerror(errno));
  COLL_CHECK(upc_all_fseek(fd, 0, UPC_SEEK_CUR) == 0, "lists leave the pointer");
  /* The same bytes in file order, read through POSIX. */
  const int descriptor = open(name, O_RDONLY);
  memset(direct, 0, sizeof direct);
  COLL_CHECK(pread(descriptor, direct, 2 * room, (off_t)base) >= 0, "%s", strerror(errno));
  close(descriptor);
  size_t entry = 0, inside = 0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < here[i].len; ++k) {
      while (inside == file[entry].len) ++entry, inside = 0;
      COLL_CHECK(
          direct[file[entry].offset - base + (upc_off_t)inside++] == ((char*)here[i].baseaddr)[k],
          "run %zu", i);
    }
  }
  NCUPC_BARRIER();
  /* And back, divided differently. */
  memset(back, 0, sizeof back);
  struct upc_local_memvec whole[2] = {{back, bytes / 3}, {back + bytes / 3, bytes - bytes / 3}};
  if (asynchronous) {
    int flag = 0;
    upc_all_fread_list_local_async(fd, 2, whole, entries, file, 0);
    while (!flag) result = upc_all_ftest_async(fd, &flag);
  } else {
    result = upc_all_fread_list_local(fd, 2, whole, entries, file, 0);
  }
  COLL_CHECK(result == (upc_off_t)bytes, "%ld of %zu", (long)result, bytes);
  size_t done = 0;
  for (size_t i = 0; i < count; ++i) {
    COLL_CHECK(memcmp(back + done, here[i].baseaddr, here[i].len) == 0, "run %zu back", i);
    done += here[i].len;
  }
  if (shared) {
    there[0].len = bytes, there[0].blocksize = 0,
    there[0].baseaddr = coll_at((MYTHREAD + 1) % THREADS, ncupc_address(array));
    COLL_CHECK(upc_all_fread_list_shared(fd, 1, there, entries, file, 0) == (upc_off_t)bytes, "%s",
               strerror(errno));
    char got[room];
    upc_memget(got, there[0].baseaddr, bytes);
    COLL_CHECK(memcmp(got, back, bytes) == 0, "to shared memory");
  }
  errno = 0;
  whole[0].len += 1;
  COLL_CHECK(upc_all_fread_list_local(fd, 2, whole, entries, file, 0) == -1 && errno == EINVAL,
             "lists of different lengths");
  closed(fd);
  upc_all_free(array);
}

static void check_asynchronous_pointers(void) {
  const ncupc_ptr fd = opened(UPC_RDWR | UPC_CREATE | UPC_TRUNC | UPC_INDIVIDUAL_FP);
  char data[100];
  int flag = 7;
  memset(data, 'a' + MYTHREAD, sizeof data);
  COLL_CHECK(upc_all_fwait_async(fd) == -1 && upc_all_ftest_async(fd, &flag) == -1 && flag == 0,
             "nothing under way");
  upc_all_fseek(fd, MYTHREAD * 100, UPC_SEEK_SET);
  upc_all_fwrite_local_async(fd, data, 1, 100, 0);
  COLL_CHECK(
      upc_all_fwait_async(fd) == 100 && upc_all_fseek(fd, 0, UPC_SEEK_CUR) == MYTHREAD * 100 + 100,
      "written");
  upc_all_fread_local_async(fd, NULL, 1, 1, 0);
  errno = 0;
  COLL_CHECK(upc_all_fwait_async(fd) == -1 && errno == EINVAL, "an error is told by the wait");
  COLL_CHECK(upc_all_fclose(fd) == 0, "closed");
}

int ncupc_main(int argc, char** argv) {
  COLL_CHECK(argc > 1, "a folder is needed");
  coll_seed(argc > 2 ? (uint64_t)atoi(argv[2]) : 1);
  snprintf(name, sizeof name, "%s/upc_io.tmp", argv[1]);
  check_opening();
  check_sizes_and_places(UPC_COMMON_FP);
  check_sizes_and_places(UPC_INDIVIDUAL_FP);
  check_fcntl();
  check_local();
  for (int pointers = UPC_INDIVIDUAL_FP; pointers <= UPC_COMMON_FP; pointers *= 2) {
    check_shared(1, 4, 1000, pointers);
    check_shared(7, 3, 500, pointers);
    check_shared(0, 8, 300, pointers);
    check_shared(9000, 4, 30000, pointers); /* long runs go without a buffer where they can */
  }
  /* more than a buffer */
  check_shared(1, 8, argc > 3 ? (size_t)atol(argv[3]) : 200000, UPC_COMMON_FP);
  for (int asynchronous = 0; asynchronous < 3; ++asynchronous) {
    check_lists(0, asynchronous);
    check_lists(1, asynchronous);
  }
  check_asynchronous_pointers();
  NCUPC_BARRIER();
  if (MYTHREAD == 0) {
    unlink(name);
    printf("ok io\n");
  }
  return 0;
}
