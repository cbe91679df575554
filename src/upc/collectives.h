// SPDX-License-Identifier: BSD-3-Clause

// The common parts of the collectives: a call and its flags, trees, synchronisation.
//
// The flags tell which threads must have entered before data is accessed, and which must have
// finished before a call returns:
//   IN_ALLSYNC   every thread, before any data is read or written
//   IN_MYSYNC    the thread that owns the data; nothing to do if every thread moves only its own
//   IN_NOSYNC    none
//   OUT_ALLSYNC, OUT_MYSYNC, OUT_NOSYNC likewise, before a thread returns
// ALLSYNC releases everything before it and acquires for everything after it, like a barrier.
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/internal.h"
#include "upc/messages.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// The collectives, as identified in messages.
enum class Kind : uint8_t {
  none,
  broadcast,
  scatter,
  gather,
  gather_all,
  exchange,
  permute,
  reduce,
  prefix_reduce,
  atomicdomain,
  values
};

struct Call {
  const char* file;  // where the program made the call; may be null
  int line;
  Kind kind;
  const char* name;  // as in the program
  bool in_all = false, in_my = false, out_all = false, out_my = false;
  uint32_t tag = 0;  // the kind, and a hash of the arguments on which all threads must agree
};

// Begins a call: decodes the flags. Invalid flags and null pointers are errors of the program.
Call begin(const char* file, int line, Kind kind, const char* name, int flags, ncupc_ptr dst,
           ncupc_ptr src);
// Adds an argument on which all threads must agree.
void agree(Call& call, uint64_t argument);

// Reports an error of the program unless `tag`, received from `thread`, is the call's.
void check_tag(const Call& call, uint32_t tag, size_t thread);

[[noreturn]] __attribute__((format(printf, 2, 3))) void fail(const Call& call, const char* format,
                                                             ...);

// Private memory, released by the destructor. Running out of it is an error of the program.
class Buffer {
 public:
  Buffer(const Call& call, size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data() { return data_; }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  char* data_;
};

inline size_t threads() { return static_cast<size_t>(ncupc_threads); }
inline size_t my_thread() { return static_cast<size_t>(ncupc_mythread); }
inline char* own(uint64_t address) { return runtime.arena + address; }
inline ncupc_ptr at(size_t thread, uint64_t address) { return ncupc_make(address, thread, 0); }
// The thread `distance` after `first`, on the circle of threads.
inline size_t thread_after(size_t first, size_t distance) { return (first + distance) % threads(); }

// A binomial tree over the circle of threads that starts at its root. The subtree of a thread is an
// arc that starts at the thread itself. The thread and the subtrees of its children 0 .. k are the
// arc of 2^(k+1) threads from it on (fewer at the end of the circle).
class Tree {
 public:
  explicit Tree(size_t root) : place_((my_thread() + threads() - root) % threads()) {}

  size_t place() const { return place_; }  // position on the circle; the root is at 0
  bool is_root() const { return place_ == 0; }
  unsigned children() const;             // child k is 2^k threads further on
  size_t subtree(unsigned child) const;  // number of threads in a child's subtree
  size_t subtree() const;                // in this thread's own, itself included
  Channel to_parent() const { return {children_limit(), false}; }
  Channel from_parent() const { return {children_limit(), true}; }
  static Channel to_child(unsigned child) { return {child, true}; }
  static Channel from_child(unsigned child) { return {child, false}; }

  // up: tells the root that every thread has arrived. down: sends the root's data to every thread.
  void up(const Call& call) const;
  void down(const Call& call, void* data = nullptr, size_t bytes = 0) const;

 private:
  unsigned children_limit() const;  // the round of the channel to the parent

  size_t place_;
};

// Synchronises all threads in ceil(log2 THREADS) rounds; releases and acquires.
void meet(const Call& call);

// Gathers `bytes` from every thread at every thread, in the order of threads. `all` may be this
// thread's own memory if no other thread touches it.
void share(const Call& call, const void* mine, size_t bytes, char* all);

// Synchronise before other threads access data of `root`, and after, as far as the root must know.
void enter_by_root(const Call& call, const Tree& tree);
void leave_by_root(const Call& call, const Tree& tree);

}  // namespace nearcache::upc
#pragma GCC visibility pop
