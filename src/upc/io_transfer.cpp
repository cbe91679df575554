// SPDX-License-Identifier: BSD-3-Clause

// upc_io.h: reading and writing. A transfer is between runs of the file and runs of memory. Private
// memory, and shared memory within reach whose runs are long, is read and written in place.
// Otherwise bytes go through a buffer, which takes one system call per run of the file, however
// small the blocks of the array are.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "upc/collectives.h"
#include "upc/io_file.h"
#include "upc/runs.h"

namespace nearcache::upc {
namespace {

// Large enough that a system call costs little compared with its bytes.
constexpr size_t buffer_bytes = size_t{1} << 20;
// Shorter runs are worth the copy.
constexpr size_t long_run = 16384;

struct FilePlace {
  upc_off_t at;
};
FilePlace move_on(FilePlace place, size_t bytes) {
  return {place.at + static_cast<upc_off_t>(bytes)};
}

using FileRuns = VectorRuns<upc_filevec, FilePlace, &upc_filevec::offset>;
using LocalRuns = VectorRuns<upc_local_memvec, void*, &upc_local_memvec::baseaddr>;

// The blocks of arrays, each a run. Leaves out the first `skip` bytes of the first array.
class SharedRuns {
 public:
  using Address = ncupc_ptr;
  SharedRuns(const upc_shared_memvec* list, size_t count, size_t skip = 0)
      : at_(list), left_(count), done_(skip) {}
  bool there() const { return left_ != 0; }
  Address address() const {
    return ncupc_unphased(
        ncupc_add(ncupc_unphased(at_->baseaddr), static_cast<ptrdiff_t>(done_), 1, at_->blocksize));
  }
  size_t bytes() const {
    const size_t rest = at_->len - done_;
    return at_->blocksize == 0 ? rest : std::min(rest, at_->blocksize - done_ % at_->blocksize);
  }
  void next() {
    done_ += bytes();
    if (done_ < at_->len) return;
    ++at_, --left_, done_ = 0;
  }

 private:
  const upc_shared_memvec* at_;
  size_t left_, done_;
};

char* in_place(void* address, size_t) { return static_cast<char*>(address); }
char* in_place(ncupc_ptr address, size_t bytes) {
  return bytes >= long_run ? ncupc_reach(address) : nullptr;
}
void load(void* to, ncupc_ptr from, size_t bytes) { read_bytes(to, from, bytes); }
void load(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void store(ncupc_ptr to, const void* from, size_t bytes) { write_bytes(to, from, bytes); }
void store(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

// The number of bytes a call has transferred, and its errno.
struct Moved {
  upc_off_t bytes = 0;
  int error = 0;
  bool ended = false;  // the end of the file was reached
};

Moved read_at(int descriptor, char* to, size_t bytes, upc_off_t at) {
  Moved moved;
  while (static_cast<size_t>(moved.bytes) < bytes) {
    const ssize_t got = pread(descriptor, to + moved.bytes,
                              bytes - static_cast<size_t>(moved.bytes), at + moved.bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) moved.error = errno;
    if (got <= 0) {
      moved.ended = true;
      break;
    }
    moved.bytes += got;
  }
  return moved;
}

Moved write_at(int descriptor, const char* from, size_t bytes, upc_off_t at) {
  Moved moved;
  while (static_cast<size_t>(moved.bytes) < bytes) {
    const ssize_t put = pwrite(descriptor, from + moved.bytes,
                               bytes - static_cast<size_t>(moved.bytes), at + moved.bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      moved.error = put < 0 ? errno : ENOSPC;
      break;
    }
    moved.bytes += put;
  }
  return moved;
}

template <class Memory>
class Transfer {
 public:
  Transfer(const File& file, bool writes, const FileRuns& in_file, const Memory& in_memory)
      : file_(file), writes_(writes), in_file_(in_file), in_memory_(in_memory) {}
  ~Transfer() { std::free(buffer_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Moved all() {
    const AtomicPart part(file_, writes_);
    Moved total;
    while (in_file_.there() && in_memory_.there() && total.error == 0 && !total.ended) {
      const Moved step = next();
      total.bytes += step.bytes;
      total.error = step.error;
      total.ended = step.ended;
    }
    return total;
  }

 private:
  Moved next() {
    const size_t both = std::min(in_file_.bytes(), in_memory_.bytes());
    if (char* const place = in_place(in_memory_.address(), both)) {
      const Moved moved = move(place, both);
      in_memory_.advance(both);
      in_file_.advance(both);
      return moved;
    }
    if (buffer_ == nullptr && (buffer_ = static_cast<char*>(std::malloc(buffer_bytes))) == nullptr)
      return {0, ENOMEM, false};
    const size_t bytes = std::min(in_file_.bytes(), buffer_bytes);
    size_t ready =
        writes_ ? through_memory(bytes, [&](auto address, char* buffered,
                                            size_t piece) { load(buffered, address, piece); })
                : bytes;
    const Moved moved = move(buffer_, ready);
    if (!writes_) {
      ready = through_memory(static_cast<size_t>(moved.bytes),
                             [&](auto address, const char* buffered, size_t piece) {
                               store(address, buffered, piece);
                             });
    }
    in_file_.advance(std::min(ready, in_file_.bytes()));
    return moved;
  }

  Moved move(char* place, size_t bytes) {
    const upc_off_t at = in_file_.address().at;
    return writes_ ? write_at(file_.descriptor, place, bytes, at)
                   : read_at(file_.descriptor, place, bytes, at);
  }

  // Calls f(address, position in the buffer, bytes) for the next bytes of memory. Returns how many
  // there were.
  template <class F>
  size_t through_memory(size_t bytes, F f) {
    size_t done = 0;
    while (done < bytes && in_memory_.there()) {
      const size_t piece = std::min(bytes - done, in_memory_.bytes());
      f(in_memory_.address(), buffer_ + done, piece);
      in_memory_.advance(piece);
      done += piece;
    }
    return done;
  }

  const File& file_;
  bool writes_;
  Place<FileRuns> in_file_;
  Place<Memory> in_memory_;
  char* buffer_ = nullptr;
};

// ---- Common to all calls.

struct IoCall {
  File& file;
  bool writes;
  bool asynchronous;
  int error = 0;
};

bool at_most_one(int flags, int choices) {
  return (flags & choices & ((flags & choices) - 1)) == 0;
}

IoCall begin_io(ncupc_ptr handle, const char* name, bool writes, upc_flag_t flags,
                bool asynchronous) {
  IoCall call{file_of(handle, name), writes, asynchronous || (flags & UPC_ASYNC) != 0};
  constexpr int in = UPC_IN_ALLSYNC | UPC_IN_MYSYNC | UPC_IN_NOSYNC,
                out = UPC_OUT_ALLSYNC | UPC_OUT_MYSYNC | UPC_OUT_NOSYNC;
  if ((flags & ~(in | out | UPC_ASYNC)) != 0 || !at_most_one(flags, in) || !at_most_one(flags, out))
    call.error = EINVAL;
  if (call.file.outstanding)
    call.error = EINVAL;
  else if (writes ? !call.file.writable() : !call.file.readable())
    call.error = EBADF;
  return call;
}

// Ends all threads' parts of a call. Keeps the result of an asynchronous one.
upc_off_t end_io(const IoCall& call, upc_off_t result, int error, bool moves_pointer) {
  File& file = call.file;
  const bool well = all_well(error);
  const int why = errno;
  if (!well)
    result = -1;
  else if (moves_pointer)
    file.place += result;
  if (!call.asynchronous || file.outstanding) return result;
  file.outstanding = true;
  file.result = result;
  file.error = why;
  return 0;
}

template <class Memory>
upc_off_t transfer_lists(const IoCall& call, const FileRuns& in_file, const Memory& in_memory,
                         bool moves_pointer) {
  internal_barrier(0);  // other threads' earlier changes of memory and file are complete
  Moved moved;
  int error = call.error;
  if (error == 0) {
    moved = Transfer<Memory>(call.file, call.writes, in_file, in_memory).all();
    error = moved.error;
  }
  return end_io(call, moved.bytes, error, moves_pointer);
}

// The bytes of `nmemb` elements from the file pointer on.
upc_filevec at_pointer(IoCall& call, size_t size, size_t nmemb) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(size, nmemb, &bytes) ||
      bytes > static_cast<size_t>(INT64_MAX - call.file.place))
    call.error = EINVAL;
  return {call.file.place, bytes};
}

upc_off_t local(ncupc_ptr handle, const char* name, bool writes, void* buffer, size_t size,
                size_t nmemb, upc_flag_t flags, bool asynchronous) {
  IoCall call = begin_io(handle, name, writes, flags, asynchronous);
  const upc_filevec there = at_pointer(call, size, nmemb);
  if (call.file.common() || (buffer == nullptr && there.len != 0)) call.error = EINVAL;
  const upc_local_memvec here{buffer, there.len};
  return transfer_lists(call, FileRuns(&there, 1), LocalRuns(&here, 1), true);
}

// Each thread moves a part of the bytes; all know the total.
upc_off_t common(const IoCall& call, upc_filevec there, const upc_shared_memvec& here) {
  struct stat status = {};
  int error = call.error;
  if (error == 0 && !call.writes && fstat(call.file.descriptor, &status) != 0) error = errno;
  const upc_off_t size = static_cast<upc_off_t>(
      internal_barrier(my_thread() == 0 ? static_cast<uint64_t>(status.st_size) : 0));
  const size_t total =
      call.writes
          ? there.len
          : std::min(there.len, static_cast<size_t>(std::max<upc_off_t>(0, size - there.offset)));
  const size_t share = total / threads(), rest = total % threads();
  const size_t first = share * my_thread() + std::min(rest, my_thread());
  const upc_filevec mine{there.offset + static_cast<upc_off_t>(first),
                         share + (my_thread() < rest ? 1 : 0)};
  if (error == 0 && mine.len != 0) {
    const upc_shared_memvec upto{here.baseaddr, here.blocksize, first + mine.len};
    const Moved moved = Transfer<SharedRuns>(call.file, call.writes, FileRuns(&mine, 1),
                                             SharedRuns(&upto, 1, first))
                            .all();
    error = moved.error != 0 ? moved.error : static_cast<size_t>(moved.bytes) != mine.len ? EIO : 0;
  }
  return end_io(call, static_cast<upc_off_t>(total), error, true);
}

upc_off_t shared(ncupc_ptr handle, const char* name, bool writes, ncupc_ptr buffer,
                 size_t blocksize, size_t size, size_t nmemb, upc_flag_t flags, bool asynchronous) {
  IoCall call = begin_io(handle, name, writes, flags, asynchronous);
  const upc_filevec there = at_pointer(call, size, nmemb);
  upc_shared_memvec here{buffer, 0, there.len};
  if (__builtin_mul_overflow(blocksize, size, &here.blocksize) ||
      (ncupc_is_null(buffer) && there.len != 0))
    call.error = EINVAL;
  if (call.file.common()) return common(call, there, here);
  return transfer_lists(call, FileRuns(&there, 1), SharedRuns(&here, there.len != 0), true);
}

// Checks that both lists have equally many bytes, at valid positions.
template <class Vector, class Runs>
upc_off_t lists(ncupc_ptr handle, const char* name, bool writes, const Vector* memory,
                size_t in_memory, const upc_filevec* file, size_t in_file, upc_flag_t flags,
                bool asynchronous) {
  IoCall call = begin_io(handle, name, writes, flags, asynchronous);
  if ((memory == nullptr && in_memory != 0) || (file == nullptr && in_file != 0)) {
    call.error = EINVAL;
    in_memory = in_file = 0;
  }
  size_t bytes_in_memory = 0, bytes_in_file = 0;
  for (size_t i = 0; i < in_memory; ++i) bytes_in_memory += memory[i].len;
  for (size_t i = 0; i < in_file; ++i) {
    bytes_in_file += file[i].len;
    if (file[i].offset < 0 || file[i].len > static_cast<size_t>(INT64_MAX - file[i].offset))
      call.error = EINVAL;
  }
  if (bytes_in_memory != bytes_in_file) call.error = EINVAL;
  return transfer_lists(call, FileRuns(file, in_file), Runs(memory, in_memory), false);
}

}  // namespace
}  // namespace nearcache::upc

using namespace nearcache::upc;

// A function and its asynchronous form.
#define NCUPC_DEFINE_LOCAL(kind, writes)                                                     \
  upc_off_t upc_all_f##kind##_local(ncupc_ptr fd, void* buffer, size_t size, size_t nmemb,   \
                                    upc_flag_t flags) {                                      \
    return local(fd, "upc_all_f" #kind "_local", writes, buffer, size, nmemb, flags, false); \
  }                                                                                          \
  void upc_all_f##kind##_local_async(ncupc_ptr fd, void* buffer, size_t size, size_t nmemb,  \
                                     upc_flag_t flags) {                                     \
    local(fd, "upc_all_f" #kind "_local_async", writes, buffer, size, nmemb, flags, true);   \
  }
#define NCUPC_DEFINE_SHARED(kind, writes)                                                        \
  upc_off_t upc_all_f##kind##_shared(ncupc_ptr fd, ncupc_ptr buffer, size_t block, size_t size,  \
                                     size_t nmemb, upc_flag_t flags) {                           \
    return shared(fd, "upc_all_f" #kind "_shared", writes, buffer, block, size, nmemb, flags,    \
                  false);                                                                        \
  }                                                                                              \
  void upc_all_f##kind##_shared_async(ncupc_ptr fd, ncupc_ptr buffer, size_t block, size_t size, \
                                      size_t nmemb, upc_flag_t flags) {                          \
    shared(fd, "upc_all_f" #kind "_shared_async", writes, buffer, block, size, nmemb, flags,     \
           true);                                                                                \
  }
#define NCUPC_DEFINE_LISTS(kind, place, Runs, writes)                                          \
  upc_off_t upc_all_f##kind##_list_##place(                                                    \
      ncupc_ptr fd, size_t memvec_entries, const upc_##place##_memvec* memvec,                 \
      size_t filevec_entries, const upc_filevec* filevec, upc_flag_t flags) {                  \
    return lists<upc_##place##_memvec, Runs>(fd, "upc_all_f" #kind "_list_" #place, writes,    \
                                             memvec, memvec_entries, filevec, filevec_entries, \
                                             flags, false);                                    \
  }                                                                                            \
  void upc_all_f##kind##_list_##place##_async(                                                 \
      ncupc_ptr fd, size_t memvec_entries, const upc_##place##_memvec* memvec,                 \
      size_t filevec_entries, const upc_filevec* filevec, upc_flag_t flags) {                  \
    lists<upc_##place##_memvec, Runs>(fd, "upc_all_f" #kind "_list_" #place "_async", writes,  \
                                      memvec, memvec_entries, filevec, filevec_entries, flags, \
                                      true);                                                   \
  }
#define NCUPC_DEFINE_IO(kind, writes)                \
  NCUPC_DEFINE_LOCAL(kind, writes)                   \
  NCUPC_DEFINE_SHARED(kind, writes)                  \
  NCUPC_DEFINE_LISTS(kind, local, LocalRuns, writes) \
  NCUPC_DEFINE_LISTS(kind, shared, SharedRuns, writes)

extern "C" {
NCUPC_DEFINE_IO(read, false)
NCUPC_DEFINE_IO(write, true)
}
