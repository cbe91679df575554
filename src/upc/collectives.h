// What the collectives share: a call and its flags, trees, synchronisation.
//
// The flags say which threads must have heard from which others before data is touched and before a
// call returns:
//   IN_ALLSYNC   every thread before any data is read or written
//   IN_MYSYNC    the thread that has the data; nothing to do where every thread moves only its own
//   IN_NOSYNC    none
//   OUT_ALLSYNC, OUT_MYSYNC, OUT_NOSYNC likewise, before a thread returns
// ALLSYNC is a release of everything before and an acquire for everything after, as a barrier is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/internal.h"
#include "upc/messages.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// The collectives, as their messages name them.
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
  const char* file;  // of the program's call; may be null
  int line;
  Kind kind;
  const char* name;  // as the program knows it
  bool in_all = false, in_my = false, out_all = false, out_my = false;
  uint32_t tag = 0;  // the kind, and a hash of the arguments that all threads must agree in
};

// A call with its flags taken apart; flags that are none, and null pointers, are errors of the
// program.
Call begin(const char* file, int line, Kind kind, const char* name, int flags, ncupc_ptr dst,
           ncupc_ptr src);
// One more argument that all threads must agree in.
void agree(Call& call, uint64_t argument);

// An error of the program unless `tag`, which came from `thread`, is the call's.
void check_tag(const Call& call, uint32_t tag, size_t thread);

[[noreturn]] __attribute__((format(printf, 2, 3))) void fail(const Call& call, const char* format,
                                                             ...);

// Memory of this process, released by the destructor; exhaustion is an error of the program.
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
// The threads from `first` on, round the circle.
inline size_t thread_after(size_t first, size_t distance) { return (first + distance) % threads(); }

// A binomial tree over the circle of threads from its root on. The subtree of a thread is itself
// and the next ones: so many of them that the union of the subtrees of children 0 .. k is the arc
// of 2^(k+1) threads from it on (fewer at the end of the circle).
class Tree {
 public:
  explicit Tree(size_t root) : place_((my_thread() + threads() - root) % threads()) {}

  size_t place() const { return place_; }  // on the circle; the root's is 0
  bool is_root() const { return place_ == 0; }
  unsigned children() const;             // child k is 2^k on
  size_t subtree(unsigned child) const;  // its threads
  size_t subtree() const;                // this thread's, itself included
  Channel to_parent() const { return {children_limit(), false}; }
  Channel from_parent() const { return {children_limit(), true}; }
  static Channel to_child(unsigned child) { return {child, true}; }
  static Channel from_child(unsigned child) { return {child, false}; }

  // Every thread's arrival, at the root; what the root has, at every thread.
  void up(const Call& call) const;
  void down(const Call& call, void* data = nullptr, size_t bytes = 0) const;

 private:
  unsigned children_limit() const;  // round of the parent's channel

  size_t place_;
};

// Everybody hears of everybody, in ceil(log2 THREADS) rounds; releases and acquires.
void meet(const Call& call);

// What every thread has, at every thread: `bytes` of each, in the order of threads. `all` may be
// own memory that nobody else touches.
void share(const Call& call, const void* mine, size_t bytes, char* all);

// Before data of `root` is touched by other threads; and after, as far as the root must know.
void enter_by_root(const Call& call, const Tree& tree);
void leave_by_root(const Call& call, const Tree& tree);

}  // namespace nearcache::upc
#pragma GCC visibility pop
