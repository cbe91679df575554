// SPDX-License-Identifier: BSD-3-Clause
#include "rma/elements.h"

#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace nearcache::rma {
namespace {

__extension__ using Int128 = __int128;
#ifdef __SIZEOF_FLOAT128__
__extension__ using Float128 = __float128;
#else
using Float128 = long double;  // has 128 bits if __float128 is missing
#endif

struct Opaque {
  std::byte byte;
};

// Half precision (IEEE 754 binary16), which not every compiler has. A sum or product of floats that
// is then rounded is the rounded exact one: floats have more than twice the digits.
struct Half {
  uint16_t bits;

  Half() = default;
  explicit Half(float value) {
    const auto whole = std::bit_cast<uint32_t>(value);
    const uint32_t size = whole & 0x7fffffff;
    uint32_t rounded;
    if (size > 0x7f800000) {
      rounded = 0x7e00;  // not a number
    } else if (size >= 0x477ff000) {
      rounded = 0x7c00;  // from 65520 on: infinite
    } else if (size < 0x38800000) {
      // Below 2^-14: added to 0.5, whose last bit has the weight of theirs.
      rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(size) + 0.5f) -
                std::bit_cast<uint32_t>(0.5f);
    } else {
      rounded = (size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13;
    }
    bits = static_cast<uint16_t>(whole >> 16 & 0x8000u) | static_cast<uint16_t>(rounded);
  }
  operator float() const {
    const uint32_t exponent = bits >> 10 & 31, digits = bits & 1023u;
    const uint32_t sign = (bits & 0x8000u) << 16;
    if (exponent == 0) {
      constexpr float least = 1.0f / (1 << 24);
      return std::bit_cast<float>(sign |
                                  std::bit_cast<uint32_t>(static_cast<float>(digits) * least));
    }
    return std::bit_cast<float>(sign | (exponent == 31 ? 255 : exponent + 112) << 23 |
                                digits << 13);
  }
  friend Half operator+(Half a, Half b) { return Half(float{a} + float{b}); }
  friend Half operator*(Half a, Half b) { return Half(float{a} * float{b}); }
  friend bool operator<(Half a, Half b) { return float{a} < float{b}; }
};
struct Complex32 {
  Half real, imaginary;

  Complex32() = default;
  explicit Complex32(std::complex<float> value) : real(value.real()), imaginary(value.imag()) {}
  operator std::complex<float>() const { return {real, imaginary}; }
  friend Complex32 operator+(Complex32 a, Complex32 b) {
    return Complex32(std::complex<float>(a) + std::complex<float>(b));
  }
  friend Complex32 operator*(Complex32 a, Complex32 b) {
    return Complex32(std::complex<float>(a) * std::complex<float>(b));
  }
};
struct Complex256 {
  Float128 real, imaginary;
  friend Complex256 operator+(Complex256 a, Complex256 b) {
    return {a.real + b.real, a.imaginary + b.imaginary};
  }
  friend Complex256 operator*(Complex256 a, Complex256 b) {
    return {a.real * b.real - a.imaginary * b.imaginary,
            a.real * b.imaginary + a.imaginary * b.real};
  }
};
template <class Value, class Index>
struct Pair {
  using is_pair = void;
  Value value;
  Index index;
};

template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> || std::is_same_v<T, Int128>;
template <class T>
inline constexpr bool is_real =
    std::is_floating_point_v<T> || std::is_same_v<T, Float128> || std::is_same_v<T, Half>;
template <class T>
inline constexpr bool is_opaque = std::is_same_v<T, Opaque>;
template <class T>
concept PairType = requires { typename T::is_pair; };

template <class T>
constexpr bool meaning(Operation operation) {
  switch (operation) {
    case Operation::replace:
    case Operation::no_op:
      return true;
    case Operation::sum:
    case Operation::product:
      return !is_opaque<T> && !PairType<T>;
    case Operation::minimum:
    case Operation::maximum:
      return is_whole<T> || is_real<T>;
    case Operation::logical_and:
    case Operation::logical_or:
    case Operation::logical_xor:
      return is_whole<T>;
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
      return is_whole<T> || is_opaque<T>;
    case Operation::minloc:
    case Operation::maxloc:
      return PairType<T>;
  }
  return false;
}

// Each element is read and written by one copy of a known size, so that an aligned word is never
// seen torn. A function changes its first argument, because vectors cannot be passed by value where
// the processor may not have them.
template <class T, class Function>
void each_alone(std::byte* memory, const std::byte* data, size_t count, Function function) {
  for (size_t i = 0; i < count; ++i) {
    T old, with;
    std::memcpy(&old, memory + i * sizeof(T), sizeof(T));
    std::memcpy(&with, data + i * sizeof(T), sizeof(T));
    function(old, with);
    std::memcpy(memory + i * sizeof(T), &old, sizeof(T));
  }
}

template <class T, size_t bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(bytes)));
};

// Processes four vectors of `width` bytes at a time. Returns the number of elements processed.
template <size_t width, class T, class Function>
[[gnu::always_inline]] inline size_t each_in_rows(std::byte* memory, const std::byte* data,
                                                  size_t count, Function function) {
  using Vector = typename VectorOf<T, width>::type;
  constexpr size_t row = 4, bytes = row * width, elements = bytes / sizeof(T);
  size_t done = 0;
  for (; count - done >= elements; done += elements, memory += bytes, data += bytes) {
#pragma GCC unroll 4
    for (size_t i = 0; i < row; ++i) {
      Vector old, with;
      std::memcpy(&old, memory + i * width, width);
      std::memcpy(&with, data + i * width, width);
      function(old, with);
      std::memcpy(memory + i * width, &old, width);
    }
  }
  return done;
}

#ifdef __x86_64__
template <class T, class Function>
[[gnu::target("avx2")]] size_t each_by_32(std::byte* memory, const std::byte* data, size_t count,
                                          Function function) {
  return each_in_rows<32, T>(memory, data, count, function);
}
template <class T, class Function>
[[gnu::target("avx512f,avx512bw,avx512dq")]] size_t each_by_64(std::byte* memory,
                                                               const std::byte* data, size_t count,
                                                               Function function) {
  return each_in_rows<64, T>(memory, data, count, function);
}

// Length in bytes of the processor's longest vectors.
const size_t longest = []() -> size_t {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq"))
    return 64;
  return __builtin_cpu_supports("avx2") ? 32 : 16;
}();
#endif

// Functions that take any type are applied to vectors of numbers: 512 minima of doubles take 20 to
// 90 ns, depending on the processor; one by one they take 360.
template <class T, class Function>
void each(std::byte* memory, const std::byte* data, size_t count, Function function) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) <= 8) {
    using Vector = typename VectorOf<T, 16>::type;
    if constexpr (std::is_invocable_v<Function, Vector&, const Vector&>) {
      size_t done = 0;
#ifdef __x86_64__
      if (count * sizeof(T) >= 256 && longest > 16) {
        done = longest == 64 ? each_by_64<T>(memory, data, count, function)
                             : each_by_32<T>(memory, data, count, function);
      }
#endif
      done += each_in_rows<16, T>(memory + done * sizeof(T), data + done * sizeof(T), count - done,
                                  function);
      return each_alone<T>(memory + done * sizeof(T), data + done * sizeof(T), count - done,
                           function);
    }
  }
  each_alone<T>(memory, data, count, function);
}

template <class T>
T pair_at(const std::byte* at) {
  T pair;
  std::memcpy(&pair.value, at + offsetof(T, value), sizeof pair.value);
  std::memcpy(&pair.index, at + offsetof(T, index), sizeof pair.index);
  return pair;
}

// Takes over those that win. The gaps between and behind value and index do not belong to the pair:
// what is behind the last one may be no memory.
template <class T, class Wins>
void each_pair(std::byte* memory, const std::byte* data, size_t count, Wins wins) {
  for (size_t i = 0; i < count; ++i, memory += sizeof(T), data += sizeof(T)) {
    const T old = pair_at<T>(memory), with = pair_at<T>(data);
    if (!wins(old, with)) continue;
    std::memcpy(memory + offsetof(T, value), &with.value, sizeof with.value);
    std::memcpy(memory + offsetof(T, index), &with.index, sizeof with.index);
  }
}

template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, Int128>) {
    __extension__ using Unsigned = unsigned __int128;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

// Avoids overflow of signed numbers, and of short ones, which are promoted to int.
template <class T>
T times(T a, T b) {
  if constexpr (is_whole<T>) {
    __extension__ using Unsigned = unsigned __int128;
    return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  } else {
    return a * b;
  }
}

template <class T>
void apply_to(Operation operation, std::byte* memory, const std::byte* data, size_t count) {
  const auto with = [&](auto function) { each<T>(memory, data, count, function); };
  if (operation == Operation::no_op) return;
  if (operation == Operation::replace) return with([](T& a, const T& b) { a = b; });
  if constexpr (!is_opaque<T> && !PairType<T>) {
    if (operation == Operation::sum) {
      const auto sum = []<class V>(V& a, const V& b) { a = static_cast<V>(a + b); };
      if constexpr (std::is_integral_v<T>)  // avoids overflow of signed numbers
        return each<std::make_unsigned_t<T>>(memory, data, count, sum);
      else if constexpr (std::is_floating_point_v<T>)
        return with(sum);
      else
        return with([](T& a, const T& b) { a = plus(a, b); });
    }
    if (operation == Operation::product) return with([](T& a, const T& b) { a = times(a, b); });
  }
  if constexpr (is_whole<T> || is_real<T>) {
    if (operation == Operation::minimum)
      return with([](auto& a, const auto& b) { a = b < a ? b : a; });
    if (operation == Operation::maximum)
      return with([](auto& a, const auto& b) { a = a < b ? b : a; });
  }
  if constexpr (is_whole<T>) {
    if (operation == Operation::logical_and)
      return with([](T& a, const T& b) { a = static_cast<T>(a != 0 && b != 0); });
    if (operation == Operation::logical_or)
      return with([](T& a, const T& b) { a = static_cast<T>(a != 0 || b != 0); });
    if (operation == Operation::logical_xor)
      return with([](T& a, const T& b) { a = static_cast<T>((a != 0) != (b != 0)); });
    if (operation == Operation::bit_and)
      return with([]<class V>(V& a, const V& b) { a = static_cast<V>(a & b); });
    if (operation == Operation::bit_or)
      return with([]<class V>(V& a, const V& b) { a = static_cast<V>(a | b); });
    if (operation == Operation::bit_xor)
      return with([]<class V>(V& a, const V& b) { a = static_cast<V>(a ^ b); });
  }
  if constexpr (is_opaque<T>) {
    if (operation == Operation::bit_and) return with([](T& a, const T& b) { a.byte &= b.byte; });
    if (operation == Operation::bit_or) return with([](T& a, const T& b) { a.byte |= b.byte; });
    if (operation == Operation::bit_xor) return with([](T& a, const T& b) { a.byte ^= b.byte; });
  }
  if constexpr (PairType<T>) {  // if values are equal, the smaller index
    if (operation == Operation::minloc) {
      return each_pair<T>(memory, data, count, [](const T& a, const T& b) {
        return b.value < a.value || (b.value == a.value && b.index < a.index);
      });
    }
    if (operation == Operation::maxloc) {
      return each_pair<T>(memory, data, count, [](const T& a, const T& b) {
        return a.value < b.value || (b.value == a.value && b.index < a.index);
      });
    }
  }
}

template <class T>
struct Type {
  using type = T;
};

// Calls function with the Type of an element.
template <class Function>
auto with_type(Element element, Function function) {
  switch (element) {
    case Element::bytes:
      return function(Type<Opaque>());
    case Element::int8:
      return function(Type<int8_t>());
    case Element::uint8:
      return function(Type<uint8_t>());
    case Element::int16:
      return function(Type<int16_t>());
    case Element::uint16:
      return function(Type<uint16_t>());
    case Element::int32:
      return function(Type<int32_t>());
    case Element::uint32:
      return function(Type<uint32_t>());
    case Element::int64:
      return function(Type<int64_t>());
    case Element::uint64:
      return function(Type<uint64_t>());
    case Element::int128:
      return function(Type<Int128>());
    case Element::float16:
      return function(Type<Half>());
    case Element::float32:
      return function(Type<float>());
    case Element::float64:
      return function(Type<double>());
    case Element::long_double:
      return function(Type<long double>());
    case Element::float128:
      return function(Type<Float128>());
    case Element::complex32:
      return function(Type<Complex32>());
    case Element::complex64:
      return function(Type<std::complex<float>>());
    case Element::complex128:
      return function(Type<std::complex<double>>());
    case Element::complex_long_double:
      return function(Type<std::complex<long double>>());
    case Element::complex256:
      return function(Type<Complex256>());
    case Element::pair_float:
      return function(Type<Pair<float, int>>());
    case Element::pair_double:
      return function(Type<Pair<double, int>>());
    case Element::pair_long:
      return function(Type<Pair<long, int>>());
    case Element::pair_int:
      return function(Type<Pair<int, int>>());
    case Element::pair_short:
      return function(Type<Pair<short, int>>());
    case Element::pair_long_double:
      return function(Type<Pair<long double, int>>());
    case Element::pair_of_floats:
      return function(Type<Pair<float, float>>());
    case Element::pair_of_doubles:
      return function(Type<Pair<double, double>>());
  }
  return function(Type<Opaque>());
}

}  // namespace

size_t size_of(Element element) {
  return with_type(element, []<class T>(Type<T>) { return sizeof(T); });
}

std::optional<PairParts> gapped_pair(Element element) {
  return with_type(element, []<class T>(Type<T>) -> std::optional<PairParts> {
    if constexpr (PairType<T>) {
      if (sizeof(T) != sizeof(T::value) + sizeof(T::index))
        return PairParts{sizeof(T::value), offsetof(T, index), sizeof(T::index)};
    }
    return {};
  });
}

size_t tail_of(Element element) {
  if (element < Element::pair_float) return 0;
  const std::optional<PairParts> parts = gapped_pair(element);
  return parts ? size_of(element) - parts->end() : 0;
}

bool has_meaning(Operation operation, Element element) {
  return with_type(element, [&]<class T>(Type<T>) { return meaning<T>(operation); });
}

void apply(Operation operation, Element element, std::byte* memory, const std::byte* data,
           size_t count) {
  // Most programs use counters: this spares them the dispatch over all types.
  if (operation == Operation::sum && count == 1 &&
      (element == Element::int64 || element == Element::uint64))
    return each_alone<uint64_t>(memory, data, 1, [](uint64_t& a, uint64_t b) { a += b; });
  // One copy, as the bytes may be those of words.
  if (operation == Operation::replace && element == Element::bytes) {
    std::memcpy(memory, data, count);
    return;
  }
  with_type(element, [&]<class T>(Type<T>) { apply_to<T>(operation, memory, data, count); });
}

}  // namespace nearcache::rma
