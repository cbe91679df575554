// SPDX-License-Identifier: BSD-3-Clause
#include "upc/collectives.h"

#include <algorithm>
#include <bit>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace nearcache::upc {
namespace {

constexpr unsigned kind_shift = 24;

const char* name_of(uint32_t tag) {
  static const char* const names[] = {"",
                                      "upc_all_broadcast",
                                      "upc_all_scatter",
                                      "upc_all_gather",
                                      "upc_all_gather_all",
                                      "upc_all_exchange",
                                      "upc_all_permute",
                                      "upc_all_reduce",
                                      "upc_all_prefix_reduce",
                                      "upc_all_atomicdomain",
                                      "bupc_allv"};
  const uint32_t kind = tag >> kind_shift;
  return kind < std::size(names) ? names[kind] : "";
}

// At most one of the three flags; none means the first.
unsigned one_of(const Call& call, int flags, int all, int my, int no, const char* which) {
  const int given = flags & (all | my | no);
  if (!std::has_single_bit(static_cast<unsigned>(given)) && given != 0) {
    fail(call, "flags 0x%x has more than one of UPC_%s_ALLSYNC, UPC_%s_MYSYNC and UPC_%s_NOSYNC",
         static_cast<unsigned>(flags), which, which, which);
  }
  return given == my ? 1 : given == no ? 2 : 0;
}

}  // namespace

void fail(const Call& call, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  ncupc_error(call.file, call.line, call.name, "%s", text);
}

Call begin(const char* file, int line, Kind kind, const char* name, int flags, ncupc_ptr dst,
           ncupc_ptr src) {
  Call call{file, line, kind, name};
  ++runtime.collective_calls;
  constexpr int known = UPC_IN_ALLSYNC | UPC_IN_MYSYNC | UPC_IN_NOSYNC | UPC_OUT_ALLSYNC |
                        UPC_OUT_MYSYNC | UPC_OUT_NOSYNC;
  if ((flags & ~known) != 0)
    fail(call, "flags 0x%x has bits that are not UPC_IN_* or UPC_OUT_* flags",
         static_cast<unsigned>(flags));
  const unsigned in = one_of(call, flags, UPC_IN_ALLSYNC, UPC_IN_MYSYNC, UPC_IN_NOSYNC, "IN");
  const unsigned out = one_of(call, flags, UPC_OUT_ALLSYNC, UPC_OUT_MYSYNC, UPC_OUT_NOSYNC, "OUT");
  if (ncupc_is_null(dst)) fail(call, "dst is a null pointer");
  if (ncupc_is_null(src)) fail(call, "src is a null pointer");
  call.in_all = in == 0;
  call.in_my = in == 1;
  call.out_all = out == 0;
  call.out_my = out == 1;
  call.tag = static_cast<uint32_t>(kind) << kind_shift;
  agree(call, in << 2 | out);
  agree(call, ncupc_integer(dst));
  agree(call, ncupc_integer(src));
  return call;
}

void agree(Call& call, uint64_t argument) {
  // Multiplicative hashing by the golden ratio; the upper bits depend on all of the argument.
  const uint64_t mixed =
      ((call.tag & ((1U << kind_shift) - 1)) + argument + 1) * 0x9e3779b97f4a7c15U;
  call.tag = static_cast<uint32_t>(call.kind) << kind_shift |
             static_cast<uint32_t>(mixed >> (64 - kind_shift));
}

void check_tag(const Call& call, uint32_t tag, size_t thread) {
  if (tag == call.tag) return;
  if (tag >> kind_shift == call.tag >> kind_shift)
    fail(call, "the arguments differ from those of thread %zu", thread);
  fail(call, "thread %zu calls %s instead", thread, name_of(tag));
}

Buffer::Buffer(const Call& call, size_t bytes)
    : data_(static_cast<char*>(std::malloc(bytes != 0 ? bytes : 1))) {
  if (data_ == nullptr) fail(call, "there are no %zu bytes of memory", bytes);
}

Buffer::~Buffer() { std::free(data_); }

unsigned Tree::children_limit() const {
  return place_ == 0 ? message_rounds() : static_cast<unsigned>(std::countr_zero(place_));
}

unsigned Tree::children() const {
  unsigned count = 0;
  while (count < children_limit() && place_ + (size_t{1} << count) < threads()) ++count;
  return count;
}

size_t Tree::subtree(unsigned child) const {
  const size_t first = place_ + (size_t{1} << child);
  return std::min(size_t{1} << child, threads() - first);
}

size_t Tree::subtree() const {
  return place_ == 0 ? threads() : std::min(size_t{1} << children_limit(), threads() - place_);
}

void Tree::up(const Call& call) const {
  for (unsigned child = 0; child < children(); ++child) receive(from_child(child), call);
  if (!is_root()) send(to_parent(), call);
}

void Tree::down(const Call& call, void* data, size_t bytes) const {
  if (!is_root()) receive(from_parent(), call, data, bytes);
  for (unsigned child = children(); child-- > 0;) send(to_child(child), call, data, bytes);
}

void meet(const Call& call) {
  release();
  for (unsigned round = 0; round < message_rounds(); ++round) {
    send({round, true}, call);
    receive({round, true}, call);
  }
  acquire(call.name);
}

// Bruck's algorithm: before round k a thread has its own block and those of the 2^k - 1 threads
// above it.
void share(const Call& call, const void* mine, size_t bytes, char* all) {
  Buffer circle(call, bytes * threads());
  std::memcpy(circle.data(), mine, bytes);
  for (unsigned round = 0; round < message_rounds(); ++round) {
    const size_t have = size_t{1} << round;
    const size_t more = std::min(have, threads() - have) * bytes;
    send_and_receive({round, false}, call, circle.data(), more, circle.data() + have * bytes, more);
  }
  // blocks of this thread and those above it
  const size_t upper = (threads() - my_thread()) * bytes;
  std::memcpy(all + my_thread() * bytes, circle.data(), upper);
  std::memcpy(all, circle.data() + upper, my_thread() * bytes);
}

void enter_by_root(const Call& call, const Tree& tree) {
  if (call.in_all) {
    release();
    tree.up(call);
  }
  if (call.in_all || call.in_my) {
    tree.down(call);
    acquire(call.name);
  }
}

void leave_by_root(const Call& call, const Tree& tree) {
  if (call.out_all) return meet(call);
  if (call.out_my) tree.up(call);
}

}  // namespace nearcache::upc
