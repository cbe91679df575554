// SPDX-License-Identifier: BSD-3-Clause

// The operations of reductions. Each consists of three functions: on two values, on a run of
// elements, and the running reduction of a run.
//
// Elements are always combined from the first to the last, so that floating-point results are the
// same in every run of the program, and operations need not be commutative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "upc/collectives.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

template <class T>
struct Operation {
  using Function = T (*)(T, T);

  Function function;                                 // combines two values
  T (*fold)(Function, const T* from, size_t count);  // count > 0
  // before: the value that precedes the run, or null
  void (*scan)(Function, T* to, const T* from, size_t count, const T* before);
};

namespace operations {

// Integers wrap around like unsigned ones, as signed overflow is undefined.
template <class T, class F>
T wrapping(T a, T b, F f) {
  if constexpr (std::is_floating_point_v<T>)
    return f(a, b);
  else
    return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
}

struct Add {
  template <class T>
  static T of(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Multiply {
  template <class T>
  static T of(T a, T b) {
    return wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct And {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct LogicalAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != 0 && b != 0);
  }
};
struct LogicalOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a != 0 || b != 0);
  }
};
struct Minimum {
  template <class T>
  static T of(T a, T b) {
    return b < a ? b : a;
  }
};
struct Maximum {
  template <class T>
  static T of(T a, T b) {
    return a < b ? b : a;
  }
};

template <class T, class F>
T fold(F f, const T* from, size_t count) {
  T result = from[0];
  for (size_t i = 1; i < count; ++i) result = f(result, from[i]);
  return result;
}

template <class T, class F>
void scan(F f, T* to, const T* from, size_t count, const T* before) {
  T running = before != nullptr ? f(*before, from[0]) : from[0];
  to[0] = running;
  for (size_t i = 1; i < count; ++i) to[i] = running = f(running, from[i]);
}

template <class T, class O>
constexpr Operation<T> built_in() {
  return {[](T a, T b) { return O::of(a, b); },
          [](T (*)(T, T), const T* from, size_t count) {
            return fold([](T a, T b) { return O::of(a, b); }, from, count);
          },
          [](T (*)(T, T), T* to, const T* from, size_t count, const T* before) {
            scan([](T a, T b) { return O::of(a, b); }, to, from, count, before);
          }};
}

template <class T>
Operation<T> users(const Call& call, T (*function)(T, T)) {
  if (function == nullptr) fail(call, "the function is a null pointer");
  return {function, [](T (*f)(T, T), const T* from, size_t count) { return fold(f, from, count); },
          [](T (*f)(T, T), T* to, const T* from, size_t count, const T* before) {
            scan(f, to, from, count, before);
          }};
}

}  // namespace operations

// The operation `op` on T. It is an error of the program if there is no such operation, or none for
// T, or if the function is missing.
template <class T>
Operation<T> operation(const Call& call, upc_op_t op, T (*function)(T, T)) {
  using namespace operations;
  if constexpr (!std::is_floating_point_v<T>) {
    if (op == UPC_AND) return built_in<T, And>();
    if (op == UPC_OR) return built_in<T, Or>();
    if (op == UPC_XOR) return built_in<T, Xor>();
  } else if (op == UPC_AND || op == UPC_OR || op == UPC_XOR) {
    fail(call, "UPC_AND, UPC_OR and UPC_XOR cannot be used with floating-point elements");
  }
  switch (op) {
    case UPC_ADD:
      return built_in<T, Add>();
    case UPC_MULT:
      return built_in<T, Multiply>();
    case UPC_LOGAND:
      return built_in<T, LogicalAnd>();
    case UPC_LOGOR:
      return built_in<T, LogicalOr>();
    case UPC_MIN:
      return built_in<T, Minimum>();
    case UPC_MAX:
      return built_in<T, Maximum>();
    case UPC_FUNC:
    case UPC_NONCOMM_FUNC:
      return users(call, function);
    default:
      fail(call, "0x%lx is not an operation of reductions", op);
  }
}

}  // namespace nearcache::upc
#pragma GCC visibility pop
