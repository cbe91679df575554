/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel input and output (UPC optional library, UPC-IO).
 *
 * Every function is collective. All threads pass the same fd, flags and other arguments, with two
 * exceptions: the buffers and lists of `local` functions, and, with individual file pointers,
 * buffers, sizes and offsets. Errors are reported as NULL or -1 on all threads, with errno set.
 * Sizes and offsets are in bytes unless noted otherwise.
 *
 * Each thread opens the file by itself, so all threads must see the same file system. A call begins
 * and ends with a barrier of its own, whatever its UPC_IN and UPC_OUT flags. So a call reads what
 * was written before it. (Weak consistency requires upc_all_fsync or upc_all_fclose in between,
 * which a network file system may need.) With UPC_STRONG_CA, a thread's part of each call is also
 * atomic with respect to other threads' parts, by means of a file lock. */
#ifndef NEARCACHE_UPC_UPC_IO_H
#define NEARCACHE_UPC_UPC_IO_H

#include <stddef.h>
#include <stdint.h>

#include "upc_declare.h"
#include "upc_types.h"

#ifndef __UPC_IO__
#define __UPC_IO__ 2
#endif

typedef int64_t upc_off_t;

/* Flags of upc_all_fopen: one of the first three, one kind of file pointer, and any of the others.
 */
#define UPC_RDONLY 0x1
#define UPC_WRONLY 0x2
#define UPC_RDWR 0x4
#define UPC_INDIVIDUAL_FP 0x8 /* each thread has its own file pointer */
#define UPC_COMMON_FP 0x10    /* all threads share one file pointer */
#define UPC_APPEND 0x20       /* file pointers start at the end of the file */
#define UPC_CREATE 0x40       /* create the file if it does not exist */
#define UPC_EXCL 0x80         /* with UPC_CREATE: an error if the file exists */
#define UPC_STRONG_CA 0x100   /* strong consistency and atomicity */
#define UPC_TRUNC 0x200       /* truncate the file; requires write access */
#define UPC_DELETE_ON_CLOSE 0x400

/* Origins of upc_all_fseek. */
#define UPC_SEEK_SET 0x1
#define UPC_SEEK_CUR 0x2
#define UPC_SEEK_END 0x4

/* Commands of upc_all_fcntl. Comments give the type of the argument, if any, and the result. */
#define UPC_GET_CA_SEMANTICS 0x1        /* UPC_STRONG_CA or 0 */
#define UPC_SET_WEAK_CA_SEMANTICS 0x2   /* 0 */
#define UPC_SET_STRONG_CA_SEMANTICS 0x4 /* 0 */
#define UPC_GET_FP 0x8                  /* UPC_INDIVIDUAL_FP or UPC_COMMON_FP */
#define UPC_SET_COMMON_FP 0x10          /* 0; the file pointer is then at the start of the file */
#define UPC_SET_INDIVIDUAL_FP 0x20      /* 0; likewise */
#define UPC_GET_FL 0x40                 /* the flags of upc_all_fopen, with later changes */
#define UPC_GET_FN 0x80                 /* const char **: the name; 0 */
#define UPC_GET_HINTS 0x100             /* const struct upc_hint **: the hints; their number */
#define UPC_SET_HINT 0x200              /* const struct upc_hint *: adds or changes a hint; 0 */
#define UPC_ASYNC_OUTSTANDING \
  0x400 /* 1 if an asynchronous operation has not been waited for, else 0 */

/* Used with the flags of a read or write: like its _async form. */
#define UPC_ASYNC 0x40

/* Hints are stored but have no effect. */
struct upc_hint {
  const char* key;
  const char* value;
};
struct upc_filevec {
  upc_off_t offset;
  size_t len;
};
struct upc_local_memvec {
  void* baseaddr;
  size_t len;
};
#ifdef NEARCACHE_UPC_RUNTIME_LIBRARY_H
#define NCUPC_FILE ncupc_ptr
#else
struct ncupc_file;
typedef shared struct ncupc_file upc_file_t;
#define NCUPC_FILE upc_file_t*
#endif
struct upc_shared_memvec {
  NCUPC_SHARED baseaddr; /* taken to have phase 0 */
  size_t blocksize;      /* bytes; 0: all on one thread */
  size_t len;
};
typedef struct upc_hint upc_hint_t; /* older names */
typedef struct upc_filevec upc_filevec_t;
typedef struct upc_local_memvec upc_local_memvec_t;
typedef struct upc_shared_memvec upc_shared_memvec_t;

NCUPC_FILE upc_all_fopen(const char* name, int flags, size_t numhints,
                         const struct upc_hint* hints);
int upc_all_fclose(NCUPC_FILE fd);
int upc_all_fsync(NCUPC_FILE fd);
/* Returns the new position of the file pointer; upc_all_fseek(fd, 0, UPC_SEEK_CUR) returns the
 * current one. */
upc_off_t upc_all_fseek(NCUPC_FILE fd, upc_off_t offset, int origin);
int upc_all_fset_size(NCUPC_FILE fd, upc_off_t size); /* truncates or extends with zeroes */
upc_off_t upc_all_fget_size(NCUPC_FILE fd);
int upc_all_fpreallocate(NCUPC_FILE fd, upc_off_t size); /* extends to at least that size */
int upc_all_fcntl(NCUPC_FILE fd, int command, void* argument);

/* Transfer `nmemb` elements of `size` bytes at the file pointer, which advances by the return
 * value: the number of bytes read or written, fewer than requested at the end of the file. `local`
 * functions require individual file pointers. In `shared` functions, blocksize is in elements and
 * the buffer is taken to have phase 0; with a common file pointer the threads share the work. */
upc_off_t upc_all_fread_local(NCUPC_FILE fd, void* buffer, size_t size, size_t nmemb,
                              upc_flag_t flags);
upc_off_t upc_all_fwrite_local(NCUPC_FILE fd, void* buffer, size_t size, size_t nmemb,
                               upc_flag_t flags);
upc_off_t upc_all_fread_shared(NCUPC_FILE fd, NCUPC_SHARED buffer, size_t blocksize, size_t size,
                               size_t nmemb, upc_flag_t flags);
upc_off_t upc_all_fwrite_shared(NCUPC_FILE fd, NCUPC_SHARED buffer, size_t blocksize, size_t size,
                                size_t nmemb, upc_flag_t flags);

/* Transfer between lists of runs, each thread with its own lists, without using the file pointers.
 * Both lists have the same total size; reading ends at the first run that extends beyond the end of
 * the file. */
upc_off_t upc_all_fread_list_local(NCUPC_FILE fd, size_t memvec_entries,
                                   const struct upc_local_memvec* memvec, size_t filevec_entries,
                                   const struct upc_filevec* filevec, upc_flag_t flags);
upc_off_t upc_all_fwrite_list_local(NCUPC_FILE fd, size_t memvec_entries,
                                    const struct upc_local_memvec* memvec, size_t filevec_entries,
                                    const struct upc_filevec* filevec, upc_flag_t flags);
upc_off_t upc_all_fread_list_shared(NCUPC_FILE fd, size_t memvec_entries,
                                    const struct upc_shared_memvec* memvec, size_t filevec_entries,
                                    const struct upc_filevec* filevec, upc_flag_t flags);
upc_off_t upc_all_fwrite_list_shared(NCUPC_FILE fd, size_t memvec_entries,
                                     const struct upc_shared_memvec* memvec, size_t filevec_entries,
                                     const struct upc_filevec* filevec, upc_flag_t flags);

/* Asynchronous forms. Each file may have one such operation at a time. Until upc_all_fwait_async,
 * or upc_all_ftest_async with *flag 1, has returned its result, no other call on the file is
 * allowed except for these two and UPC_ASYNC_OUTSTANDING. In this implementation, the operation is
 * done when the call returns. */
void upc_all_fread_local_async(NCUPC_FILE fd, void* buffer, size_t size, size_t nmemb,
                               upc_flag_t flags);
void upc_all_fwrite_local_async(NCUPC_FILE fd, void* buffer, size_t size, size_t nmemb,
                                upc_flag_t flags);
void upc_all_fread_shared_async(NCUPC_FILE fd, NCUPC_SHARED buffer, size_t blocksize, size_t size,
                                size_t nmemb, upc_flag_t flags);
void upc_all_fwrite_shared_async(NCUPC_FILE fd, NCUPC_SHARED buffer, size_t blocksize, size_t size,
                                 size_t nmemb, upc_flag_t flags);
void upc_all_fread_list_local_async(NCUPC_FILE fd, size_t memvec_entries,
                                    const struct upc_local_memvec* memvec, size_t filevec_entries,
                                    const struct upc_filevec* filevec, upc_flag_t flags);
void upc_all_fwrite_list_local_async(NCUPC_FILE fd, size_t memvec_entries,
                                     const struct upc_local_memvec* memvec, size_t filevec_entries,
                                     const struct upc_filevec* filevec, upc_flag_t flags);
void upc_all_fread_list_shared_async(NCUPC_FILE fd, size_t memvec_entries,
                                     const struct upc_shared_memvec* memvec, size_t filevec_entries,
                                     const struct upc_filevec* filevec, upc_flag_t flags);
void upc_all_fwrite_list_shared_async(NCUPC_FILE fd, size_t memvec_entries,
                                      const struct upc_shared_memvec* memvec,
                                      size_t filevec_entries, const struct upc_filevec* filevec,
                                      upc_flag_t flags);
upc_off_t upc_all_fwait_async(NCUPC_FILE fd);
upc_off_t upc_all_ftest_async(NCUPC_FILE fd, int* flag);

#endif
