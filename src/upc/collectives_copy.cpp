// SPDX-License-Identifier: BSD-3-Clause

// scatter, gather, gather_all, exchange, permute.
//
// Small blocks are sent in messages, so that a thread reads and writes only its own memory; then
// every IN flag except ALLSYNC is satisfied without further synchronisation. Larger blocks are read
// or written in place, by the thread that does not own them.
#include <cstring>

#include "upc/collectives.h"

namespace nearcache::upc {
namespace {

// Messages are used if all threads' blocks together have at most this many bytes: over a network
// some slots, at a few microseconds each, since going by memory costs more round trips; within
// reach one slot.
constexpr size_t small_total_near = 124, small_total_far = 1024;

bool small(size_t bytes) {
  return bytes <= (runtime.all_near ? small_total_near : small_total_far) / threads();
}

Call begin_copy(const char* file, int line, Kind kind, const char* name, int flags, ncupc_ptr dst,
                ncupc_ptr src, size_t bytes) {
  Call call = begin(file, line, kind, name, flags, dst, src);
  agree(call, bytes);
  return call;
}

void need_thread_0(const Call& call, const char* which, ncupc_ptr p) {
  if (ncupc_thread(p) != 0)
    fail(call, "%s has affinity to thread %zu, and must have to thread 0", which, ncupc_thread(p));
}

void copy_own(uint64_t to, uint64_t from, size_t bytes) {
  if (to != from) std::memmove(own(to), own(from), bytes);
}

// Copies `bytes` of own memory to address `to` of `thread`.
void write_from_own(size_t thread, uint64_t to, uint64_t from, size_t bytes) {
  if (thread == my_thread()) return copy_own(to, from, bytes);
  write_bytes(at(thread, to), own(from), bytes);
}

// Synchronises after putting blocks to other threads. A thread knows that its own block is complete
// only once it has heard from all others.
void leave_writers(const Call& call) {
  if (call.out_all || call.out_my) meet(call);
}

void scatter_by_messages(const Call& call, const Tree& tree, uint64_t dst, ncupc_ptr src,
                         size_t bytes) {
  Buffer blocks(call, tree.subtree() * bytes);  // in the order of the circle
  if (tree.is_root()) {
    const size_t root = my_thread(), upper = threads() - root;
    const char* from = own(ncupc_address(src));
    std::memcpy(blocks.data(), from + root * bytes, upper * bytes);
    std::memcpy(blocks.data() + upper * bytes, from, root * bytes);
  } else {
    receive(tree.from_parent(), call, blocks.data(), tree.subtree() * bytes);
  }
  for (unsigned child = tree.children(); child-- > 0;) {
    send(Tree::to_child(child), call, blocks.data() + (bytes << child),
         tree.subtree(child) * bytes);
  }
  std::memcpy(own(dst), blocks.data(), bytes);
}

void gather_by_messages(const Call& call, const Tree& tree, ncupc_ptr dst, uint64_t src,
                        size_t bytes) {
  Buffer blocks(call, tree.subtree() * bytes);
  std::memcpy(blocks.data(), own(src), bytes);
  for (unsigned child = 0; child < tree.children(); ++child) {
    receive(Tree::from_child(child), call, blocks.data() + (bytes << child),
            tree.subtree(child) * bytes);
  }
  if (!tree.is_root()) return send(tree.to_parent(), call, blocks.data(), tree.subtree() * bytes);
  const size_t root = my_thread(), upper = threads() - root;
  char* to = own(ncupc_address(dst));
  std::memcpy(to + root * bytes, blocks.data(), upper * bytes);
  std::memcpy(to, blocks.data() + upper * bytes, root * bytes);
}

void scatter(const Call& call, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  need_thread_0(call, "dst", dst);
  const Tree tree(ncupc_thread(src));
  if (small(bytes)) {
    if (call.in_all) meet(call);
    scatter_by_messages(call, tree, ncupc_address(dst), src, bytes);
    if (call.out_all) meet(call);
    return;
  }
  enter_by_root(call, tree);
  const uint64_t from = ncupc_address(src) + my_thread() * bytes;
  if (tree.is_root())
    copy_own(ncupc_address(dst), from, bytes);
  else
    read_bytes(own(ncupc_address(dst)), at(ncupc_thread(src), from), bytes);
  leave_by_root(call, tree);
}

void gather(const Call& call, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  need_thread_0(call, "src", src);
  const Tree tree(ncupc_thread(dst));
  if (small(bytes)) {
    if (call.in_all) meet(call);
    gather_by_messages(call, tree, dst, ncupc_address(src), bytes);
    if (call.out_all) meet(call);
    return;
  }
  enter_by_root(call, tree);
  write_from_own(ncupc_thread(dst), ncupc_address(dst) + my_thread() * bytes, ncupc_address(src),
                 bytes);
  if (call.out_my) release();
  leave_by_root(call, tree);
}

void gather_all(const Call& call, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  need_thread_0(call, "dst", dst);
  need_thread_0(call, "src", src);
  if (small(bytes)) {
    if (call.in_all) meet(call);
    share(call, own(ncupc_address(src)), bytes, own(ncupc_address(dst)));
    if (call.out_all) meet(call);
    return;
  }
  if (call.in_all || call.in_my) meet(call);
  const uint64_t to = ncupc_address(dst) + my_thread() * bytes;
  // Each thread starts with its successor, so that they do not all write to one thread at once.
  for (size_t i = 1; i <= threads(); ++i)
    write_from_own(thread_after(my_thread(), i), to, ncupc_address(src), bytes);
  leave_writers(call);
}

void exchange(const Call& call, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  need_thread_0(call, "dst", dst);
  need_thread_0(call, "src", src);
  if (call.in_all || call.in_my) meet(call);
  const uint64_t to = ncupc_address(dst) + my_thread() * bytes;
  for (size_t i = 1; i <= threads(); ++i) {
    const size_t thread = thread_after(my_thread(), i);
    write_from_own(thread, to, ncupc_address(src) + thread * bytes, bytes);
  }
  leave_writers(call);
}

void permute(const Call& call, ncupc_ptr dst, ncupc_ptr src, ncupc_ptr perm, size_t bytes) {
  need_thread_0(call, "dst", dst);
  need_thread_0(call, "src", src);
  if (ncupc_is_null(perm)) fail(call, "perm is a null pointer");
  need_thread_0(call, "perm", perm);
  if (call.in_all || call.in_my) meet(call);
  int thread;
  std::memcpy(&thread, own(ncupc_address(perm)), sizeof thread);
  if (thread < 0 || thread >= ncupc_threads)
    fail(call, "perm[%d] is %d, and must be a thread", ncupc_mythread, thread);
  write_from_own(static_cast<size_t>(thread), ncupc_address(dst), ncupc_address(src), bytes);
  leave_writers(call);
}

}  // namespace
}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

void ncupc_all_scatter(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, size_t bytes,
                       int flags) {
  scatter(begin_copy(file, line, Kind::scatter, "upc_all_scatter", flags, dst, src, bytes), dst,
          src, bytes);
}

void ncupc_all_gather(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, size_t bytes,
                      int flags) {
  gather(begin_copy(file, line, Kind::gather, "upc_all_gather", flags, dst, src, bytes), dst, src,
         bytes);
}

void ncupc_all_gather_all(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, size_t bytes,
                          int flags) {
  gather_all(begin_copy(file, line, Kind::gather_all, "upc_all_gather_all", flags, dst, src, bytes),
             dst, src, bytes);
}

void ncupc_all_exchange(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, size_t bytes,
                        int flags) {
  exchange(begin_copy(file, line, Kind::exchange, "upc_all_exchange", flags, dst, src, bytes), dst,
           src, bytes);
}

void ncupc_all_permute(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, ncupc_ptr perm,
                       size_t bytes, int flags) {
  permute(begin_copy(file, line, Kind::permute, "upc_all_permute", flags, dst, src, bytes), dst,
          src, perm, bytes);
}

}  // extern "C"
