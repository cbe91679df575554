// SPDX-License-Identifier: BSD-3-Clause

// upc_io.h: opening, closing, file pointers, sizes, and file control.
#include "upc/io_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "upc/collectives.h"

namespace nearcache::upc {
namespace {

constexpr uint64_t open_mark = 0x6e6375706366696c;

// A thread's part of a handle's block.
struct Handle {
  uint64_t mark;
  File* file;
};

Handle& own_part(ncupc_ptr handle) {
  return *reinterpret_cast<Handle*>(own(ncupc_address(handle)));
}

bool one_of(int flags, int choices) {
  const int given = flags & choices;
  return given != 0 && (given & (given - 1)) == 0;
}

int flags_error(int flags) {
  constexpr int known = 0x7ff;
  if ((flags & ~known) != 0 || !one_of(flags, UPC_RDONLY | UPC_WRONLY | UPC_RDWR)) return EINVAL;
  if (!one_of(flags, UPC_INDIVIDUAL_FP | UPC_COMMON_FP)) return EINVAL;
  if ((flags & UPC_TRUNC) != 0 && (flags & UPC_RDONLY) != 0) return EINVAL;
  if ((flags & UPC_EXCL) != 0 && (flags & UPC_CREATE) == 0) return EINVAL;
  return 0;
}

// Thread 0 creates or truncates the file before the others open it.
int open_for(const char* name, int flags, bool first) {
  int how = O_CLOEXEC | ((flags & UPC_RDWR) != 0     ? O_RDWR
                         : (flags & UPC_WRONLY) != 0 ? O_WRONLY
                                                     : O_RDONLY);
  if (first && (flags & UPC_CREATE) != 0) how |= O_CREAT;
  if (first && (flags & UPC_EXCL) != 0) how |= O_EXCL;
  if (first && (flags & UPC_TRUNC) != 0) how |= O_TRUNC;
  return open(name, how, 0666);
}

void forget_hints(File& file) {
  for (size_t i = 0; i < file.number_of_hints; ++i) {
    std::free(const_cast<char*>(file.hints[i].key));
    std::free(const_cast<char*>(file.hints[i].value));
  }
  std::free(file.hints);
}

void destroy(File* file) {
  if (file->descriptor >= 0) close(file->descriptor);
  forget_hints(*file);
  std::free(file->name);
  std::free(file);
}

int set_hint(File& file, const upc_hint* hint) {
  if (hint == nullptr || hint->key == nullptr || hint->value == nullptr) return EINVAL;
  char* const value = strdup(hint->value);
  if (value == nullptr) return ENOMEM;
  for (size_t i = 0; i < file.number_of_hints; ++i) {
    if (std::strcmp(file.hints[i].key, hint->key) != 0) continue;
    std::free(const_cast<char*>(file.hints[i].value));
    file.hints[i].value = value;
    return 0;
  }
  char* const key = strdup(hint->key);
  void* const more = std::realloc(file.hints, (file.number_of_hints + 1) * sizeof *file.hints);
  if (more != nullptr) file.hints = static_cast<upc_hint*>(more);
  if (key == nullptr || more == nullptr) {
    std::free(key);
    std::free(value);
    return ENOMEM;
  }
  file.hints[file.number_of_hints++] = {key, value};
  return 0;
}

File* new_file(const char* name, int flags) {
  File* const file = static_cast<File*>(std::calloc(1, sizeof(File)));
  if (file == nullptr) return nullptr;
  *file = File{};
  file->flags = flags;
  file->name = strdup(name);
  if (file->name != nullptr) return file;
  std::free(file);
  return nullptr;
}

// Opens the file, on thread 0 first. *file exists even after an error, if there was memory for it.
int open_all(const char* name, int flags, size_t numhints, const upc_hint* hints, File** file) {
  int error = name == nullptr || (numhints != 0 && hints == nullptr) ? EINVAL : flags_error(flags);
  if (error == 0 && (*file = new_file(name, flags)) == nullptr) error = ENOMEM;
  for (size_t i = 0; error == 0 && i < numhints; ++i) error = set_hint(**file, &hints[i]);
  for (const bool turn : {true, false}) {
    if (error == 0 && turn == (my_thread() == 0)) {
      (*file)->descriptor = open_for(name, flags, turn);
      if ((*file)->descriptor < 0) error = errno;
    }
    error = static_cast<int>(internal_barrier(static_cast<uint64_t>(error)));
  }
  return error;
}

upc_off_t size_of(const File& file, int* error) {
  struct stat status;
  if (fstat(file.descriptor, &status) == 0) return status.st_size;
  *error = errno;
  return 0;
}

int make_longer(const File& file, upc_off_t size) {
  int error = 0;
  if (size_of(file, &error) >= size || error != 0) return error;
  error = posix_fallocate(file.descriptor, 0, size);
  if (error != EOPNOTSUPP && error != EINVAL) return error;
  return ftruncate(file.descriptor, size) == 0 ? 0 : errno;
}

// Lets thread 0 act for all, ordered after everything before and before everything after.
template <class F>
int by_one_thread(int error, F f) {
  error = static_cast<int>(internal_barrier(static_cast<uint64_t>(error)));
  if (error == 0 && my_thread() == 0) error = f();
  return all_well(error) ? 0 : -1;
}

int changing_error(const File& file, upc_off_t size) {
  return file.outstanding || size < 0 ? EINVAL : !file.writable() ? EBADF : 0;
}

// Sets file pointers to the beginning.
void set_pointers(File& file, int kind) {
  file.flags = (file.flags & ~(UPC_COMMON_FP | UPC_INDIVIDUAL_FP)) | kind;
  file.place = 0;
}

int control(File& file, int command, void* argument) {
  switch (command) {
    case UPC_GET_CA_SEMANTICS:
      return file.flags & UPC_STRONG_CA;
    case UPC_SET_WEAK_CA_SEMANTICS:
      file.flags &= ~UPC_STRONG_CA;
      return 0;
    case UPC_SET_STRONG_CA_SEMANTICS:
      file.flags |= UPC_STRONG_CA;
      return 0;
    case UPC_GET_FP:
      return file.flags & (UPC_COMMON_FP | UPC_INDIVIDUAL_FP);
    case UPC_SET_COMMON_FP:
      set_pointers(file, UPC_COMMON_FP);
      return 0;
    case UPC_SET_INDIVIDUAL_FP:
      set_pointers(file, UPC_INDIVIDUAL_FP);
      return 0;
    case UPC_GET_FL:
      return file.flags;
    case UPC_GET_FN:
      *static_cast<const char**>(argument) = file.name;
      return 0;
    case UPC_GET_HINTS:
      *static_cast<const upc_hint**>(argument) = file.hints;
      return static_cast<int>(file.number_of_hints);
    default:
      break;
  }
  errno = command == UPC_SET_HINT ? set_hint(file, static_cast<const upc_hint*>(argument)) : EINVAL;
  return errno == 0 ? 0 : -1;
}

}  // namespace

File& file_of(ncupc_ptr handle, const char* call) {
  const uint64_t address = ncupc_address(handle);
  const bool possible = !ncupc_is_null(handle) && address % 16 == 0 &&
                        address <= runtime.arena_bytes - sizeof(Handle);
  if (!possible || own_part(handle).mark != open_mark)
    ncupc_error(nullptr, 0, call, "this is not an open file");
  return *own_part(handle).file;
}

bool all_well(int error) {
  const int worst = static_cast<int>(internal_barrier(static_cast<uint64_t>(error)));
  if (worst != 0) errno = worst;
  return worst == 0;
}

AtomicPart::AtomicPart(const File& file, bool writes) {
  if (!file.strong()) return;
#ifdef F_OFD_SETLK
  struct flock lock = {};
  lock.l_type = static_cast<short>(writes ? F_WRLCK : F_RDLCK);
  lock.l_whence = SEEK_SET;
  Waiter waiter;
  while (fcntl(file.descriptor, F_OFD_SETLK, &lock) != 0) {
    // a file system without locks
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) return;
    waiter.pause();
  }
  locked_ = file.descriptor;
#endif
}

AtomicPart::~AtomicPart() {
#ifdef F_OFD_SETLK
  if (locked_ < 0) return;
  struct flock lock = {};
  lock.l_type = F_UNLCK;
  lock.l_whence = SEEK_SET;
  fcntl(locked_, F_OFD_SETLK, &lock);
#endif
}

}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

ncupc_ptr upc_all_fopen(const char* name, int flags, size_t numhints, const upc_hint* hints) {
  File* file = nullptr;
  int error = open_all(name, flags, numhints, hints, &file);
  if (error == 0 && (flags & UPC_APPEND) != 0) file->place = size_of(*file, &error);
  if (!all_well(error)) {
    const int kept = errno;
    if (file != nullptr) destroy(file);
    errno = kept;
    return NCUPC_NULL;
  }
  const ncupc_ptr handle = ncupc_all_alloc(nullptr, 0, threads(), sizeof(Handle));
  own_part(handle) = {open_mark, file};
  return handle;
}

int upc_all_fclose(ncupc_ptr handle) {
  File* const file = &file_of(handle, "upc_all_fclose");
  if (!all_well(file->outstanding ? EINVAL : 0)) return -1;
  int error = file->writable() && fsync(file->descriptor) != 0 && errno != EINVAL && errno != EROFS
                  ? errno
                  : 0;
  if (close(file->descriptor) != 0 && error == 0) error = errno;
  file->descriptor = -1;
  if ((file->flags & UPC_DELETE_ON_CLOSE) != 0) {
    internal_barrier(0);  // all threads have closed the file
    if (my_thread() == 0 && unlink(file->name) != 0 && error == 0) error = errno;
  }
  own_part(handle).mark = 0;
  destroy(file);
  ncupc_all_free(nullptr, 0, handle);
  return all_well(error) ? 0 : -1;
}

int upc_all_fsync(ncupc_ptr handle) {
  const File& file = file_of(handle, "upc_all_fsync");
  int error = file.outstanding ? EINVAL : 0;
  // a pipe needs no sync
  if (error == 0 && file.writable() && fsync(file.descriptor) != 0 && errno != EINVAL)
    error = errno;
  return all_well(error) ? 0 : -1;
}

upc_off_t upc_all_fseek(ncupc_ptr handle, upc_off_t offset, int origin) {
  File& file = file_of(handle, "upc_all_fseek");
  int error = file.outstanding ? EINVAL : 0;
  upc_off_t from = 0, to = 0;
  if (origin == UPC_SEEK_CUR) {
    from = file.place;
  } else if (origin == UPC_SEEK_END) {
    internal_barrier(0);  // earlier writes of other threads are complete
    from = size_of(file, &error);
  } else if (origin != UPC_SEEK_SET) {
    error = EINVAL;
  }
  if (__builtin_add_overflow(from, offset, &to) || to < 0) error = EINVAL;
  if (!all_well(error)) return -1;
  return file.place = to;
}

int upc_all_fset_size(ncupc_ptr handle, upc_off_t size) {
  const File& file = file_of(handle, "upc_all_fset_size");
  return by_one_thread(changing_error(file, size),
                       [&] { return ftruncate(file.descriptor, size) == 0 ? 0 : errno; });
}

int upc_all_fpreallocate(ncupc_ptr handle, upc_off_t size) {
  const File& file = file_of(handle, "upc_all_fpreallocate");
  return by_one_thread(changing_error(file, size), [&] { return make_longer(file, size); });
}

upc_off_t upc_all_fget_size(ncupc_ptr handle) {
  const File& file = file_of(handle, "upc_all_fget_size");
  int error = file.outstanding ? EINVAL : 0;
  internal_barrier(0);  // earlier writes of other threads are complete
  const upc_off_t size = size_of(file, &error);
  return all_well(error) ? size : -1;
}

int upc_all_fcntl(ncupc_ptr handle, int command, void* argument) {
  File& file = file_of(handle, "upc_all_fcntl");
  if (command == UPC_ASYNC_OUTSTANDING) return file.outstanding ? 1 : 0;
  if (file.outstanding ||
      ((command == UPC_GET_FN || command == UPC_GET_HINTS) && argument == nullptr)) {
    errno = EINVAL;
    return -1;
  }
  return control(file, command, argument);
}

upc_off_t upc_all_fwait_async(ncupc_ptr handle) {
  File& file = file_of(handle, "upc_all_fwait_async");
  if (!file.outstanding) {
    errno = EINVAL;
    return -1;
  }
  file.outstanding = false;
  if (file.result < 0) errno = file.error;
  return file.result;
}

upc_off_t upc_all_ftest_async(ncupc_ptr handle, int* flag) {
  const bool there = file_of(handle, "upc_all_ftest_async").outstanding;
  if (flag != nullptr) *flag = there ? 1 : 0;
  return upc_all_fwait_async(handle);
}

}  // extern "C"
