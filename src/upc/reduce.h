// SPDX-License-Identifier: BSD-3-Clause

// Reductions of shared arrays: upc_all_reduceT and upc_all_prefix_reduceT for one type.
//
// A tree alone is not enough, because a function that is not commutative needs the elements in
// order, and with several blocks per thread a thread's parts are not adjacent. Block sums are then
// brought into order in one of two ways:
//   few     every thread receives all of them, by messages, and goes through them
//   many    they are transposed: thread i receives rows i * rows / THREADS and following of all
//           threads, goes through these, and the threads combine their totals. Each thread moves at
//           most twice as many sums as it has
#pragma once

#include <algorithm>
#include <cstring>

#include "upc/collectives.h"
#include "upc/reduce_layout.h"
#include "upc/reduce_operation.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

// Every thread receives all block sums if they take no more than this many bytes: some tens of
// messages. Transposing them takes a few microseconds within reach, and some hundred over a
// network.
constexpr size_t few_bytes_near = 1024, few_bytes_far = 4096;

// An optional value.
template <class T>
struct Maybe {
  T value{};
  bool there = false;

  // Appends the value that follows this one.
  void append(const Operation<T>& operation, const Maybe& next) {
    if (!next.there) return;
    value = there ? operation.function(value, next.value) : next.value;
    there = true;
  }
  void append(const Operation<T>& operation, const T& next) {
    append(operation, Maybe{next, true});
  }
};

// The reduction of an arc of the circle of threads that starts at the root. The array's first
// element is on some thread in the middle of the circle; an arc that crosses that thread has the
// last elements before it, and the first elements from it on.
template <class T>
struct Arc {
  Maybe<T> last, first;

  void append(const Operation<T>& operation, const Arc& next) {
    last.append(operation, next.last);
    first.append(operation, next.first);
  }
  Maybe<T> whole(const Operation<T>& operation) const {
    Maybe<T> result = first;
    result.append(operation, last);
    return result;
  }
};

template <class T>
class Reduction {
 public:
  Reduction(const Call& call, const Operation<T>& operation, const Layout& layout)
      : call_(call), operation_(operation), layout_(layout) {}

  // The reduction of all elements, at thread `root`. Elements of one thread are combined in order;
  // if `ordered`, those of all threads are.
  Maybe<T> total(size_t root, bool ordered) {
    if (!ordered || layout_.rows() <= 1) {
      Maybe<T> mine;
      for (size_t row = 0; row < layout_.my_rows(); ++row) mine.append(operation_, block_sum(row));
      return up(root, layout_.first_thread(), mine);
    }
    Sums sums(*this);
    return sums.are_few() ? sums.total_of_all() : up(root, 0, sums.total_of_rows());
  }

  // Writes every element's prefix to the array at dst, which has blocks of the same size.
  void prefixes(const Layout& dst) {
    if (layout_.blocks() <= 1) {
      if (layout_.my_rows() == 1) write_prefixes(dst, 0, nullptr);
      return;
    }
    Sums sums(*this);
    sums.make_prefixes();
    if (layout_.block() == 1 && layout_.fits(dst)) {
      if (layout_.my_rows() != 0)
        std::memcpy(own(dst.run(layout_.my_block(0)).address), sums.prefixes(),
                    layout_.my_rows() * sizeof(T));
      return;
    }
    for (size_t row = 0; row < layout_.my_rows(); ++row) {
      if (layout_.block() == 1)
        move_prefixes(dst, layout_.my_block(row), sums.prefixes() + row, 1);
      else
        write_prefixes(dst, row, layout_.my_block(row) != 0 ? sums.prefixes() + row : nullptr);
    }
  }

 private:
  T block_sum(size_t row) const {
    const Layout::Run run = layout_.run(layout_.my_block(row));
    return operation_.fold(operation_.function, reinterpret_cast<const T*>(own(run.address)),
                           run.count);
  }

  void write_prefixes(const Layout& dst, size_t row, const T* before) const {
    const size_t block = layout_.my_block(row);
    const Layout::Run from = layout_.run(block);
    const T* elements = reinterpret_cast<const T*>(own(from.address));
    if (layout_.fits(dst)) {
      operation_.scan(operation_.function, reinterpret_cast<T*>(own(dst.run(block).address)),
                      elements, from.count, before);
    } else {
      Buffer made(call_, from.count * sizeof(T));
      operation_.scan(operation_.function, made.as<T>(), elements, from.count, before);
      move_prefixes(dst, layout_.first_element(block), made.as<T>(), from.count);
    }
  }

  // Moves prefixes to their place in a dst that starts at another thread or phase.
  void move_prefixes(const Layout& dst, size_t first, const T* made, size_t count) const {
    dst.for_pieces(first, count, [&](ncupc_ptr to, size_t piece) {
      write_bytes(to, made, piece * sizeof(T));
      made += piece;
    });
  }

  // Combines the threads' values up the binomial tree, whose subtrees are arcs, in the order of the
  // circle from `begin` on.
  Maybe<T> up(size_t root, size_t begin, const Maybe<T>& mine) const {
    const Tree tree(root);
    const size_t cut = (begin + threads() - root) % threads();
    Arc<T> arc;
    (tree.place() < cut ? arc.last : arc.first) = mine;
    for (unsigned child = 0; child < tree.children(); ++child) {
      Arc<T> next;
      receive(Tree::from_child(child), call_, &next, sizeof next);
      arc.append(operation_, next);
    }
    if (tree.is_root()) return arc.whole(operation_);
    send(tree.to_parent(), call_, &arc, sizeof arc);
    return {};
  }

  // The block sums, rows() per thread.
  class Sums;

  const Call& call_;
  const Operation<T>& operation_;
  const Layout& layout_;
};

template <class T>
class Reduction<T>::Sums {
 public:
  explicit Sums(Reduction& reduction)
      : r_(reduction),
        few_(reduction.layout_.rows() <=
             (runtime.all_near ? few_bytes_near : few_bytes_far) / sizeof(T) / threads()),
        rows_(reduction.layout_.rows()),
        chunk_(first_row(my_thread() + 1) - first_row(my_thread())),
        mine_(reduction.call_, rows_ * sizeof(T)),
        all_(reduction.call_, (few_ ? rows_ * threads() : chunk_ * threads()) * sizeof(T)) {
    std::memset(mine_.data(), 0, rows_ * sizeof(T));
    if (r_.layout_.block() != 1) {
      for (size_t row = 0; row < r_.layout_.my_rows(); ++row) mine()[row] = r_.block_sum(row);
    } else if (r_.layout_.my_rows() != 0) {
      std::memcpy(mine(), own(r_.layout_.run(r_.layout_.my_block(0)).address),
                  r_.layout_.my_rows() * sizeof(T));
    }
    if (few_)
      share(r_.call_, mine_.data(), rows_ * sizeof(T), all_.data());
    else
      transpose();
  }
  ~Sums() {
    if (!few_) ncupc_all_free(r_.call_.file, r_.call_.line, shared_);
  }
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  bool are_few() const { return few_; }

  Maybe<T> total_of_all() {
    Maybe<T> total;
    for (size_t block = 0; block < r_.layout_.blocks(); ++block)
      total.append(r_.operation_, few(block));
    return total;
  }

  // Reduces this thread's rows.
  Maybe<T> total_of_rows() {
    Maybe<T> total;
    for_rows([&](T& sum) { total.append(r_.operation_, sum); });
    return total;
  }

  // Replaces each sum of this thread by the reduction of all blocks before it; for blocks of one
  // element, by the reduction up to and including that element.
  void make_prefixes() {
    if (few_)
      few_prefixes();
    else
      many_prefixes();
  }
  const T* prefixes() { return mine(); }

 private:
  T* mine() { return mine_.template as<T>(); }

  // The sum of any block; only if are_few(): then all sums are here.
  const T& few(size_t block) {
    const size_t thread = thread_after(r_.layout_.first_thread(), block % threads());
    return all_.template as<T>()[thread * rows_ + block / threads()];
  }

  void few_prefixes() {
    Maybe<T> running;
    for (size_t block = 0, row = 0; row < r_.layout_.my_rows(); ++block) {
      T prefix = few(block);
      replace(prefix, running);
      if (block == r_.layout_.my_block(row)) mine()[row++] = prefix;
    }
  }

  // Replaces a block's sum by the prefix there; `running` is the reduction of all blocks before it.
  void replace(T& sum, Maybe<T>& running) const {
    const T before = running.value;
    running.append(r_.operation_, sum);
    sum = r_.layout_.block() == 1 ? running.value : before;
  }

  // Rows [first_row(i), first_row(i + 1)) are thread i's.
  size_t first_row(size_t thread) const {
    return rows_ / threads() * thread + std::min(rows_ % threads(), thread);
  }
  // Where the rows of this thread's chunk begin in each thread's part.
  uint64_t chunk_address() const {
    return ncupc_address(shared_) + first_row(my_thread()) * sizeof(T);
  }

  void transpose() {
    shared_ = ncupc_all_alloc(r_.call_.file, r_.call_.line, threads(), rows_ * sizeof(T));
    std::memcpy(own(ncupc_address(shared_)), mine_.data(), rows_ * sizeof(T));
    meet(r_.call_);
    for (size_t i = 0; i < threads(); ++i) {
      read_bytes(column(i), at(thread_of(i), chunk_address()), chunk_ * sizeof(T));
    }
  }

  // Columns in the order of blocks.
  size_t thread_of(size_t column) const { return thread_after(r_.layout_.first_thread(), column); }
  T* column(size_t i) { return all_.template as<T>() + i * chunk_; }

  template <class F>
  void for_rows(F f) {
    for (size_t row = 0; row < chunk_; ++row) {
      const size_t first = (first_row(my_thread()) + row) * threads();
      const size_t blocks = std::min(threads(), r_.layout_.blocks() - first);
      for (size_t i = 0; i < blocks; ++i) f(column(i)[row]);
    }
  }

  void many_prefixes() {
    const Maybe<T> total = total_of_rows();
    Buffer totals(r_.call_, threads() * sizeof total);
    share(r_.call_, &total, sizeof total, totals.data());
    Maybe<T> running;
    for (size_t i = 0; i < my_thread(); ++i)
      running.append(r_.operation_, totals.as<Maybe<T>>()[i]);
    for_rows([&](T& sum) { replace(sum, running); });
    for (size_t i = 0; i < threads(); ++i)
      write_bytes(at(thread_of(i), chunk_address()), column(i), chunk_ * sizeof(T));
    meet(r_.call_);
    std::memcpy(mine_.data(), own(ncupc_address(shared_)), rows_ * sizeof(T));
  }

  Reduction& r_;
  bool few_;
  size_t rows_;
  size_t chunk_;  // rows of this thread, when transposed
  Buffer mine_;
  Buffer all_;  // few: thread by thread; many: column by column, this thread's rows of each
  ncupc_ptr shared_{};
};

// Adds the arguments on which threads must agree in both functions: all but the layout of dst.
inline void agree_reduction(Call& call, upc_op_t op, size_t count, size_t block) {
  agree(call, op);
  agree(call, count);
  agree(call, block);
}

inline void check_phase(const Call& call, const char* which, ncupc_ptr p, size_t block) {
  if (block != 0 && ncupc_phase(p) >= block)
    fail(call, "%s has phase %zu in blocks of %zu elements", which, ncupc_phase(p), block);
}

template <class T>
void reduce(Call call, ncupc_ptr dst, ncupc_ptr src, upc_op_t op, size_t count, size_t block,
            T (*function)(T, T)) {
  agree_reduction(call, op, count, block);
  check_phase(call, "src", src, block);
  const Operation<T> operation = upc::operation(call, op, function);
  const Layout layout(src, count, sizeof(T), block);
  // By its part the root learns that a thread has entered: what the thread wrote before must be
  // complete by then.
  if (call.in_all)
    meet(call);
  else if (call.out_all)
    release();
  const size_t root = ncupc_thread(dst);
  const Maybe<T> result = Reduction<T>(call, operation, layout).total(root, op == UPC_NONCOMM_FUNC);
  if (root == my_thread() && result.there)
    std::memcpy(own(ncupc_address(dst)), &result.value, sizeof(T));
  if (!call.out_all) return;
  // Once the root has the result, all threads have read their elements.
  Tree(root).down(call);
  acquire(call.name);
}

template <class T>
void prefix_reduce(Call call, ncupc_ptr dst, ncupc_ptr src, upc_op_t op, size_t count, size_t block,
                   T (*function)(T, T)) {
  agree_reduction(call, op, count, block);
  check_phase(call, "src", src, block);
  check_phase(call, "dst", dst, block);
  const Operation<T> operation = upc::operation(call, op, function);
  const Layout layout(src, count, sizeof(T), block), to(dst, count, sizeof(T), block);
  // Threads write to each other's memory unless dst and src have the same layout, as one
  // specification of UPC demanded.
  const bool far = !layout.fits(to);
  if (call.in_all || (far && call.in_my)) meet(call);
  Reduction<T>(call, operation, layout).prefixes(to);
  if (call.out_all || (far && call.out_my)) meet(call);
}

}  // namespace nearcache::upc
#pragma GCC visibility pop
