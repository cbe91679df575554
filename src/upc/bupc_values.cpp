// SPDX-License-Identifier: BSD-3-Clause

// Berkeley UPC's collectives on values, built on the messages of the other collectives: a tree from
// the root, or every thread's value sent to every thread, which takes what it needs. Values are
// small.
#include <cstring>

#include "upc/collectives.h"
#include "upc/reduce_operation.h"

using namespace nearcache::upc;

namespace {

// Begins a call, and adds the arguments on which threads must agree.
enum What : uint64_t { broadcast, scatter, gather, permute, reduction, prefix };

Call begin_values(const char* file, int line, What what, const char* name, size_t bytes,
                  uint64_t argument) {
  Call call{file, line, Kind::values, name};
  ++runtime.collective_calls;
  call.tag = 0;
  agree(call, what);
  agree(call, bytes);
  agree(call, argument);
  return call;
}

size_t checked_root(const Call& call, int root) {
  if (root < 0 || root >= ncupc_threads) fail(call, "the root is %d, and must be a thread", root);
  return static_cast<size_t>(root);
}

// Combines `values`, one per thread, up to and including thread `last`.
template <class T>
void fold(const Call& call, upc_op_t op, void* to, const char* values, size_t last) {
  if (op == UPC_FUNC || op == UPC_NONCOMM_FUNC)
    fail(call, "UPC_FUNC and UPC_NONCOMM_FUNC cannot be used with values");
  const Operation<T> known = operation<T>(call, op, nullptr);
  T result;
  std::memcpy(&result, values, sizeof result);
  for (size_t i = 1; i <= last; ++i) {
    T next;
    std::memcpy(&next, values + i * sizeof next, sizeof next);
    result = known.function(result, next);
  }
  std::memcpy(to, &result, sizeof result);
}

void fold_any(const Call& call, int kind, size_t bytes, upc_op_t op, void* to, const char* values,
              size_t last) {
  switch (kind << 8 | static_cast<int>(bytes)) {
    case 1 << 8 | 1:
      return fold<int8_t>(call, op, to, values, last);
    case 1 << 8 | 2:
      return fold<int16_t>(call, op, to, values, last);
    case 1 << 8 | 4:
      return fold<int32_t>(call, op, to, values, last);
    case 1 << 8 | 8:
      return fold<int64_t>(call, op, to, values, last);
    case 2 << 8 | 1:
      return fold<uint8_t>(call, op, to, values, last);
    case 2 << 8 | 2:
      return fold<uint16_t>(call, op, to, values, last);
    case 2 << 8 | 4:
      return fold<uint32_t>(call, op, to, values, last);
    case 2 << 8 | 8:
      return fold<uint64_t>(call, op, to, values, last);
    case 3 << 8 | sizeof(float):
      return fold<float>(call, op, to, values, last);
    case 3 << 8 | sizeof(double):
      return fold<double>(call, op, to, values, last);
    case 3 << 8 | sizeof(long double):
      return fold<long double>(call, op, to, values, last);
    default:
      fail(call, "there are no reductions of values of %zu bytes", bytes);
  }
}

}  // namespace

extern "C" {

void ncupc_allv_broadcast(const char* file, int line, void* to, const void* value, size_t bytes,
                          int root) {
  const Call call = begin_values(file, line, broadcast, "bupc_allv_broadcast", bytes,
                                 static_cast<uint64_t>(root));
  const Tree tree(checked_root(call, root));
  Buffer data(call, bytes);
  if (tree.is_root()) std::memcpy(data.data(), value, bytes);
  tree.down(call, data.data(), bytes);
  std::memcpy(to, data.data(), bytes);
}

void ncupc_allv_scatter(const char* file, int line, void* to, const void* values, size_t bytes,
                        int root) {
  const Call call =
      begin_values(file, line, scatter, "bupc_allv_scatter", bytes, static_cast<uint64_t>(root));
  const Tree tree(checked_root(call, root));
  if (tree.is_root() && values == nullptr) fail(call, "the array is a null pointer at its root");
  Buffer all(call, bytes * threads());
  if (tree.is_root()) std::memcpy(all.data(), values, bytes * threads());
  tree.down(call, all.data(), bytes * threads());
  std::memcpy(to, all.data() + my_thread() * bytes, bytes);
}

void* ncupc_allv_gather(const char* file, int line, void* to, const void* value, size_t bytes,
                        int root) {
  const Call call =
      begin_values(file, line, gather, "bupc_allv_gather", bytes, static_cast<uint64_t>(root));
  const bool wanted = root == -1 || checked_root(call, root) == my_thread();
  if (root != -1 && wanted && to == nullptr) fail(call, "the array is a null pointer at its root");
  Buffer all(call, bytes * threads());
  share(call, value, bytes, all.data());
  if (wanted && to != nullptr) std::memcpy(to, all.data(), bytes * threads());
  return to;
}

void ncupc_allv_permute(const char* file, int line, void* to, const void* value, size_t bytes,
                        int thread) {
  const Call call = begin_values(file, line, permute, "bupc_allv_permute", bytes, 0);
  if (thread < 0 || thread >= ncupc_threads)
    fail(call, "the thread is %d, and must be one", thread);
  const size_t entry = sizeof thread + bytes;  // the receiver and the value
  Buffer mine(call, entry), all(call, entry * threads());
  std::memcpy(mine.data(), &thread, sizeof thread);
  std::memcpy(mine.data() + sizeof thread, value, bytes);
  share(call, mine.data(), entry, all.data());
  size_t found = 0;
  for (size_t i = 0; i < threads(); ++i) {
    int whose;
    std::memcpy(&whose, all.data() + i * entry, sizeof whose);
    if (whose != ncupc_mythread) continue;
    std::memcpy(to, all.data() + i * entry + sizeof whose, bytes);
    ++found;
  }
  if (found != 1) fail(call, "%zu threads send to thread %d", found, ncupc_mythread);
}

void ncupc_allv_reduce(const char* file, int line, void* to, const void* value, size_t bytes,
                       int kind, int root, upc_op_t op) {
  Call call =
      begin_values(file, line, reduction, "bupc_allv_reduce", bytes, static_cast<uint64_t>(root));
  agree(call, op);
  agree(call, static_cast<uint64_t>(kind));
  if (root != -1) checked_root(call, root);
  Buffer all(call, bytes * threads());
  share(call, value, bytes, all.data());
  if (root == -1 || root == ncupc_mythread)
    fold_any(call, kind, bytes, op, to, all.data(), threads() - 1);
}

void ncupc_allv_prefix_reduce(const char* file, int line, void* to, const void* value, size_t bytes,
                              int kind, upc_op_t op) {
  Call call = begin_values(file, line, prefix, "bupc_allv_prefix_reduce", bytes, op);
  agree(call, static_cast<uint64_t>(kind));
  Buffer all(call, bytes * threads());
  share(call, value, bytes, all.data());
  fold_any(call, kind, bytes, op, to, all.data(), my_thread());
}

}  // extern "C"
