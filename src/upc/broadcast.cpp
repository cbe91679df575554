// SPDX-License-Identifier: BSD-3-Clause

// upc_all_broadcast, in one of three ways by size and reach.
//
//   up to 248 bytes   in the tree's messages (124 where all threads are near)
//   all threads near  every thread copies from the root's memory at once
//   else              each thread puts to the next, in chunks, so that all links are busy: a
//                     binomial tree of O(log THREADS) steps, or for many chunks a chain, in which
//                     no thread sends anything twice
#include <shmem.h>

#include <algorithm>
#include <cstring>

#include "upc/collectives.h"

namespace nearcache::upc {
namespace {

// One slot within reach (a message takes 0.2 us, a copy by memory 0.7 us whatever the size), two
// over a network, where each takes a few microseconds.
constexpr size_t message_bytes_near = 124, message_bytes_far = 248;
// Several times the bytes in flight at once (0.7 GB/s times 30 us over tcp), so that the message
// after each chunk costs little.
constexpr size_t chunk_bytes = 65536;

// The thread from which this one receives, and those to which it passes the data on, in either
// shape of tree.
class Links {
 public:
  Links(const Tree& tree, bool chain) : tree_(tree), chain_(chain) {}

  bool has_parent() const { return !tree_.is_root(); }
  unsigned children() const {
    return chain_ ? (tree_.place() + 1 < threads() ? 1 : 0) : tree_.children();
  }
  // Larger subtrees first.
  Channel to_child(unsigned child) const { return Tree::to_child(round(child)); }
  Channel from_child(unsigned child) const { return Tree::from_child(round(child)); }
  Channel to_parent() const { return chain_ ? Channel{0, false} : tree_.to_parent(); }
  Channel from_parent() const { return chain_ ? Channel{0, true} : tree_.from_parent(); }

 private:
  unsigned round(unsigned child) const { return children() - 1 - child; }

  const Tree& tree_;
  bool chain_;
};

void broadcast_by_messages(const Call& call, const Tree& tree, ncupc_ptr dst, ncupc_ptr src,
                           size_t bytes) {
  if (call.in_all) {
    release();
    tree.up(call);
  }
  char data[message_bytes_far];
  if (tree.is_root()) std::memcpy(data, own(ncupc_address(src)), bytes);
  tree.down(call, data, bytes);
  std::memcpy(own(ncupc_address(dst)), data, bytes);
}

void copy_from_root(const Call& call, const Tree& tree, ncupc_ptr dst, ncupc_ptr src,
                    size_t bytes) {
  enter_by_root(call, tree);
  char* to = own(ncupc_address(dst));
  if (!tree.is_root())
    read_bytes(to, src, bytes);
  else if (ncupc_address(src) != ncupc_address(dst))
    std::memmove(to, own(ncupc_address(src)), bytes);
  if (call.out_my) tree.up(call);  // src has been read
}

// Data may be put to a thread once it has entered. With ALLSYNC all have entered when the root,
// having heard from all, passes data on; otherwise each thread tells its parent.
void enter_to_be_written(const Call& call, const Tree& tree, const Links& links) {
  if (call.in_all) {
    release();
    tree.up(call);
  } else if (call.in_my) {
    if (links.has_parent()) send(links.to_parent(), call);
    for (unsigned child = 0; child < links.children(); ++child)
      receive(links.from_child(child), call);
  }
}

void pass_on(const Call& call, const Tree& tree, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  const Links links(tree, bytes / chunk_bytes >= 4 * threads());
  enter_to_be_written(call, tree, links);
  const char* from = own(ncupc_address(tree.is_root() ? src : dst));
  for (size_t done = 0; done < bytes; done += chunk_bytes) {
    const size_t chunk = std::min(chunk_bytes, bytes - done);
    if (links.has_parent()) receive(links.from_parent(), call);
    for (unsigned child = 0; child < links.children(); ++child) {
      const Channel channel = links.to_child(child);
      write_bytes(at(receiver(channel), ncupc_address(dst) + done), from + done, chunk);
      shmem_fence();
      send(channel, call);
    }
  }
  if (tree.is_root() && ncupc_address(src) != ncupc_address(dst))
    std::memmove(own(ncupc_address(dst)), from, bytes);
}

void broadcast(const Call& call, ncupc_ptr dst, ncupc_ptr src, size_t bytes) {
  if (ncupc_thread(dst) != 0)
    fail(call, "dst has affinity to thread %zu, and must have to thread 0", ncupc_thread(dst));
  const Tree tree(ncupc_thread(src));
  if (bytes <= (runtime.all_near ? message_bytes_near : message_bytes_far))
    broadcast_by_messages(call, tree, dst, src, bytes);
  else if (runtime.all_near)
    copy_from_root(call, tree, dst, src, bytes);
  else
    pass_on(call, tree, dst, src, bytes);
  if (call.out_all)
    meet(call);
  else if (call.in_all)
    acquire(call.name);
}

}  // namespace
}  // namespace nearcache::upc

using namespace nearcache::upc;

extern "C" {

void ncupc_all_broadcast(const char* file, int line, ncupc_ptr dst, ncupc_ptr src, size_t bytes,
                         int flags) {
  Call call = begin(file, line, Kind::broadcast, "upc_all_broadcast", flags, dst, src);
  agree(call, bytes);
  broadcast(call, dst, src, bytes);
}

}  // extern "C"
