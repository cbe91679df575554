// SPDX-License-Identifier: BSD-3-Clause

// Memory described as a sequence of runs of bytes: lists and parts of arrays, between which copies
// are made.
#pragma once

#include <cstddef>

#include "upc/internal.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

inline ncupc_ptr move_on(ncupc_ptr p, size_t bytes) {
  return ncupc_add_bytes(p, static_cast<ptrdiff_t>(bytes));
}
inline void* move_on(void* p, size_t bytes) { return static_cast<char*>(p) + bytes; }
inline const void* move_on(const void* p, size_t bytes) {
  return static_cast<const char*>(p) + bytes;
}

// Each kind of runs has a type Address, address() and bytes() of the current run, next(), and
// there(), which is false after the last run.

// `begin`: the member of a Vector that says where a run begins; `len` is its number of bytes.
template <class Vector, class Address_, auto begin = &Vector::addr>
class VectorRuns {
 public:
  using Address = Address_;
  VectorRuns(const Vector* list, size_t count) : at_(list), left_(count) {}
  bool there() const { return left_ != 0; }
  Address address() const { return Address{at_->*begin}; }
  size_t bytes() const { return at_->len; }
  void next() { ++at_, --left_; }

 private:
  const Vector* at_;
  size_t left_;
};

template <class Address_>
class ListRuns {
 public:
  using Address = Address_;
  ListRuns(const Address* list, size_t count, size_t bytes)
      : at_(list), left_(count), bytes_(bytes) {}
  bool there() const { return left_ != 0; }
  Address address() const { return *at_; }
  size_t bytes() const { return bytes_; }
  void next() { ++at_, --left_; }

 private:
  const Address* at_;
  size_t left_, bytes_;
};

// Runs of `bytes` in `levels` dimensions: in dimension i there are counts[i], strides[i] bytes
// apart. `indices` has room for `levels` numbers.
template <class Address_>
class StridedRuns {
 public:
  using Address = Address_;
  StridedRuns(Address first, size_t bytes, const size_t* strides, const size_t* counts,
              size_t levels, size_t* indices)
      : first_(first),
        bytes_(bytes),
        strides_(strides),
        counts_(counts),
        levels_(levels),
        indices_(indices) {
    for (size_t i = 0; i < levels; ++i) {
      indices_[i] = 0;
      there_ = there_ && counts[i] != 0;
    }
  }
  bool there() const { return there_; }
  Address address() const { return move_on(first_, offset_); }
  size_t bytes() const { return bytes_; }
  void next() {
    for (size_t i = 0; i < levels_; ++i) {
      offset_ += strides_[i];
      if (++indices_[i] < counts_[i]) return;
      offset_ -= strides_[i] * counts_[i];
      indices_[i] = 0;
    }
    there_ = false;
  }

 private:
  Address first_;
  size_t bytes_;
  const size_t *strides_, *counts_;
  size_t levels_;
  size_t* indices_;
  size_t offset_ = 0;
  bool there_ = true;
};

// A position within runs: the rest of the current run. Skips empty runs.
template <class Runs>
class Place {
 public:
  explicit Place(Runs runs) : runs_(runs) { skip_empty(); }
  bool there() const { return runs_.there(); }
  typename Runs::Address address() const { return move_on(runs_.address(), done_); }
  size_t bytes() const { return runs_.bytes() - done_; }
  void advance(size_t bytes) {
    done_ += bytes;
    if (done_ < runs_.bytes()) return;
    done_ = 0;
    runs_.next();
    skip_empty();
  }

 private:
  void skip_empty() {
    while (runs_.there() && runs_.bytes() == 0) runs_.next();
  }

  Runs runs_;
  size_t done_ = 0;
};

template <class Runs>
size_t bytes_of(Runs runs) {
  size_t bytes = 0;
  for (; runs.there(); runs.next()) bytes += runs.bytes();
  return bytes;
}

// Calls f(address in a, address in b, bytes) for each piece that is contiguous in both, up to the
// end of the shorter one.
template <class A, class B, class F>
void for_pieces(const A& a, const B& b, F f) {
  Place<A> in_a(a);
  for (Place<B> in_b(b); in_a.there() && in_b.there();) {
    const size_t bytes = in_a.bytes() < in_b.bytes() ? in_a.bytes() : in_b.bytes();
    f(in_a.address(), in_b.address(), bytes);
    in_a.advance(bytes);
    in_b.advance(bytes);
  }
}

}  // namespace nearcache::upc
#pragma GCC visibility pop
