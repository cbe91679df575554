// Accumulates of every type and operation.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <complex>
#include <cstring>
#include <limits>
#include <thread>

#include "rma/elements.h"

namespace nearcache::rma {
namespace TEST_FILE {

// One element, at an odd address.
template <class T>
T result(Operation operation, Element element, T memory, T data) {
  EXPECT_EQ(size_of(element), sizeof(T));
  EXPECT_TRUE(has_meaning(operation, element));
  std::array<std::byte, sizeof(T) + 1> memory_bytes, data_bytes;
  std::memcpy(&memory_bytes[1], &memory, sizeof(T));
  std::memcpy(&data_bytes[1], &data, sizeof(T));
  apply(operation, element, &memory_bytes[1], &data_bytes[1], 1);
  std::memcpy(static_cast<void*>(&memory), &memory_bytes[1], sizeof(T));
  return memory;
}

template <class T>
void whole_numbers(Element element) {
  const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  const auto is = [&](Operation operation, T memory, T data, T expected) {
    EXPECT_EQ(result(operation, element, memory, data), expected)
        << static_cast<int>(element) << " " << static_cast<int>(operation);
  };
  is(Operation::replace, 3, 5, 5);
  is(Operation::no_op, 3, 5, 3);
  is(Operation::sum, 3, 5, 8);
  is(Operation::sum, most, 1, least);
  is(Operation::product, 3, 5, 15);
  is(Operation::product, most, 2, static_cast<T>(least == 0 ? most - 1 : -2));
  is(Operation::minimum, 3, 5, 3);
  is(Operation::minimum, most, least, least);
  is(Operation::maximum, 3, 5, 5);
  is(Operation::maximum, least, most, most);
  is(Operation::logical_and, 3, 4, 1);
  is(Operation::logical_and, 3, 0, 0);
  is(Operation::logical_or, 0, 4, 1);
  is(Operation::logical_or, 0, 0, 0);
  is(Operation::logical_xor, 3, 4, 0);
  is(Operation::logical_xor, 3, 0, 1);
  is(Operation::bit_and, 6, 3, 2);
  is(Operation::bit_or, 6, 3, 7);
  is(Operation::bit_xor, 6, 3, 5);
  EXPECT_FALSE(has_meaning(Operation::minloc, element));
}

TEST(Elements, WholeNumbers) {
  whole_numbers<int8_t>(Element::int8);
  whole_numbers<uint8_t>(Element::uint8);
  whole_numbers<int16_t>(Element::int16);
  whole_numbers<uint16_t>(Element::uint16);
  whole_numbers<int32_t>(Element::int32);
  whole_numbers<uint32_t>(Element::uint32);
  whole_numbers<int64_t>(Element::int64);
  whole_numbers<uint64_t>(Element::uint64);
  __extension__ using Int128 = __int128;
  const Int128 large = Int128{1} << 100;
  EXPECT_TRUE(result<Int128>(Operation::sum, Element::int128, large, 5) == large + 5);
  EXPECT_TRUE(result<Int128>(Operation::product, Element::int128, -3, large) == -3 * large);
  EXPECT_TRUE(result<Int128>(Operation::minimum, Element::int128, -3, large) == -3);
}

template <class T>
void real_numbers(Element element) {
  EXPECT_EQ(result<T>(Operation::sum, element, 1.5, 2.25), T(3.75));
  EXPECT_EQ(result<T>(Operation::product, element, 1.5, 2), T(3));
  EXPECT_EQ(result<T>(Operation::minimum, element, 1.5, -2), T(-2));
  EXPECT_EQ(result<T>(Operation::maximum, element, 1.5, -2), T(1.5));
  EXPECT_EQ(result<T>(Operation::replace, element, 1.5, -2), T(-2));
  for (const Operation none : {Operation::logical_and, Operation::bit_xor, Operation::maxloc})
    EXPECT_FALSE(has_meaning(none, element));
}

template <class T>
void complex_numbers(Element element) {
  EXPECT_EQ(result<T>(Operation::sum, element, {1, 2}, {3, 5}), T(4, 7));
  EXPECT_EQ(result<T>(Operation::product, element, {1, 2}, {3, 5}), T(-7, 11));
  for (const Operation none :
       {Operation::minimum, Operation::logical_or, Operation::bit_and, Operation::minloc})
    EXPECT_FALSE(has_meaning(none, element));
}

template <class T>
void many(Element element) {
  std::vector<T> data, memory;
  for (int i = 0; i < 1111; ++i) {
    data.push_back(static_cast<T>(i * 37 % 101));
    memory.push_back(static_cast<T>(i * 53 % 101));
  }
  // few, and many, which use longer vectors; not aligned for vectors
  for (const size_t count : {77, 1110}) {
    for (const Operation operation :
         {Operation::minimum, Operation::maximum, Operation::sum, Operation::product,
          Operation::bit_and, Operation::bit_or, Operation::bit_xor}) {
      if (!has_meaning(operation, element)) continue;
      std::vector<T> now = memory;
      apply(operation, element, reinterpret_cast<std::byte*>(&now[1]),
            reinterpret_cast<const std::byte*>(&data[1]), count);
      for (size_t i = 0; i < now.size(); ++i)
        ASSERT_EQ(now[i],
                  i == 0 || i > count ? memory[i] : result(operation, element, memory[i], data[i]))
            << i;
    }
  }
}

TEST(Elements, ManyAreTreatedLikeEach) {
  many<int8_t>(Element::int8);
  many<uint16_t>(Element::uint16);
  many<int32_t>(Element::int32);
  many<uint64_t>(Element::uint64);
  many<float>(Element::float32);
  many<double>(Element::float64);
  many<long double>(Element::long_double);
}

TEST(Elements, RealAndComplexNumbers) {
  real_numbers<float>(Element::float32);
  real_numbers<double>(Element::float64);
  real_numbers<long double>(Element::long_double);
  complex_numbers<std::complex<float>>(Element::complex64);
  complex_numbers<std::complex<double>>(Element::complex128);
  complex_numbers<std::complex<long double>>(Element::complex_long_double);
#ifdef __SIZEOF_FLOAT128__
  __extension__ using Float128 = __float128;
  struct Complex {
    Float128 real, imaginary;
  };
  EXPECT_TRUE(result<Float128>(Operation::sum, Element::float128, 1.5, 2.25) == 3.75);
  const Complex product = result<Complex>(Operation::product, Element::complex256, {1, 2}, {3, 5});
  EXPECT_TRUE(product.real == -7 && product.imaginary == 11);
#endif
}

// As bits: sign, 5 of the exponent, 10 of the digits behind the point.
TEST(Elements, HalfPrecisionIsRoundedToTheNearest) {
  constexpr uint16_t one = 0x3c00, one_and_least = 0x3c01, two = 0x4000, three = 0x4200;
  constexpr uint16_t sign = 0x8000, half_of_least = 0x1000, more = 0x1001;
  constexpr uint16_t most = 0x7bff, infinite = 0x7c00, smallest = 1, smallest_normal = 0x400;
  const auto is = [](Operation operation, int memory, int data, int expected) {
    const auto got = result(operation, Element::float16, static_cast<uint16_t>(memory),
                            static_cast<uint16_t>(data));
    EXPECT_EQ(got, expected) << memory << " " << data;
  };
  is(Operation::sum, one, one, two);
  is(Operation::sum, one, two, three);
  is(Operation::sum, one, half_of_least, one);  // halfway: to the even one
  is(Operation::sum, one, more, one_and_least);
  is(Operation::sum, one_and_least, half_of_least, one_and_least + 1);
  is(Operation::sum, one, sign | one, 0);
  is(Operation::sum, most, most, infinite);
  is(Operation::sum, most, one, most);
  is(Operation::sum, smallest, smallest, 2);
  is(Operation::sum, smallest_normal, sign | smallest, smallest_normal - 1);
  is(Operation::sum, smallest_normal - 1, smallest, smallest_normal);
  is(Operation::product, three, sign | two, sign | 0x4600);
  is(Operation::product, smallest, 0x3800, 0);  // halfway between nothing and the smallest
  is(Operation::product, 3, 0x3800, 2);
  is(Operation::product, smallest_normal, 0x3800, 0x200);
  is(Operation::minimum, one, sign | two, sign | two);
  is(Operation::maximum, one, sign | two, one);
  is(Operation::maximum, most, infinite, infinite);
  is(Operation::replace, one, two, two);
  for (int bits = 0; bits < infinite; ++bits) is(Operation::product, bits, one, bits);
  EXPECT_GT(result<uint16_t>(Operation::sum, Element::float16, infinite, sign | infinite) & 0x7fff,
            infinite);  // not a number
  EXPECT_FALSE(has_meaning(Operation::bit_and, Element::float16));
  using Complex = std::array<uint16_t, 2>;
  const auto both = result<Complex>(Operation::sum, Element::complex32, {one, two}, {two, one});
  EXPECT_EQ(both, (Complex{three, three}));
  const auto squared = result<Complex>(Operation::product, Element::complex32, {0, one}, {0, one});
  EXPECT_EQ(squared[0], sign | one);
  EXPECT_FALSE(has_meaning(Operation::minimum, Element::complex32));
}

template <class Value, class Index>
void pairs(Element element) {
  struct Pair {
    Value value;
    Index index;
  };
  const auto is = [&](Operation operation, Pair memory, Pair data, Pair expected) {
    const Pair got = result(operation, element, memory, data);
    EXPECT_EQ(got.value, expected.value);
    EXPECT_EQ(got.index, expected.index);
  };
  is(Operation::minloc, {3, 1}, {2, 9}, {2, 9});
  is(Operation::minloc, {2, 1}, {3, 0}, {2, 1});
  is(Operation::minloc, {2, 7}, {2, 3}, {2, 3});
  is(Operation::maxloc, {3, 1}, {2, 9}, {3, 1});
  is(Operation::maxloc, {2, 1}, {3, 0}, {3, 0});
  is(Operation::maxloc, {2, 7}, {2, 9}, {2, 7});
  is(Operation::replace, {2, 7}, {1, 9}, {1, 9});
  EXPECT_FALSE(has_meaning(Operation::sum, element));
}

TEST(Elements, PairsOfValueAndIndex) {
  pairs<float, int>(Element::pair_float);
  pairs<double, int>(Element::pair_double);
  pairs<long, int>(Element::pair_long);
  pairs<int, int>(Element::pair_int);
  pairs<short, int>(Element::pair_short);
  pairs<long double, int>(Element::pair_long_double);
  pairs<float, float>(Element::pair_of_floats);
  pairs<double, double>(Element::pair_of_doubles);
}

TEST(Elements, WhatLiesInAPairAndBehindItIsNotOfThePair) {
  struct ShortInt {
    int16_t value;
    int16_t gap;
    int32_t index;
  };
  ShortInt memory{5, 11, 1};
  const ShortInt less{4, 22, 2}, equal{4, 33, 1}, more{9, 44, 0};
  const auto apply_to_it = [&](Operation operation, const ShortInt& data) {
    apply(operation, Element::pair_short, reinterpret_cast<std::byte*>(&memory),
          reinterpret_cast<const std::byte*>(&data), 1);
  };
  apply_to_it(Operation::minloc, less);
  EXPECT_TRUE(memory.value == 4 && memory.gap == 11 && memory.index == 2);
  apply_to_it(Operation::minloc, equal);
  EXPECT_TRUE(memory.value == 4 && memory.gap == 11 && memory.index == 1);
  apply_to_it(Operation::maxloc, more);
  EXPECT_TRUE(memory.value == 9 && memory.gap == 11 && memory.index == 0);
}

// Its owner may load it meanwhile.
TEST(Elements, AWordThatIsReplacedIsNeverSeenInPart) {
  const std::array<uint64_t, 2> values{0, UINT64_MAX};
  for (const auto& [element, count] :
       {std::pair(Element::bytes, 8), std::pair(Element::int64, 1)}) {
    alignas(8) uint64_t word = 0;
    std::atomic<bool> over{false};
    // by a copy of its own: before version 16 clang captures no structured binding
    std::thread writes([&, element = element, count = count] {
      for (size_t i = 0; i < 100000; ++i) {
        apply(Operation::replace, element, reinterpret_cast<std::byte*>(&word),
              reinterpret_cast<const std::byte*>(&values[i % 2]), static_cast<size_t>(count));
        if (i % 1000 == 0) std::this_thread::yield();
      }
      over = true;
    });
    uint64_t in_part = 0;
    while (!over) {
      const uint64_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);
      in_part += seen != values[0] && seen != values[1];
    }
    writes.join();
    EXPECT_EQ(in_part, 0u) << static_cast<int>(element);
  }
}

TEST(Elements, BytesKnowBitsAndNothingElse) {
  EXPECT_EQ(result(Operation::bit_xor, Element::bytes, std::byte{6}, std::byte{3}), std::byte{5});
  EXPECT_EQ(result(Operation::bit_or, Element::bytes, std::byte{6}, std::byte{3}), std::byte{7});
  EXPECT_EQ(result(Operation::bit_and, Element::bytes, std::byte{6}, std::byte{3}), std::byte{2});
  EXPECT_EQ(result(Operation::replace, Element::bytes, std::byte{6}, std::byte{3}), std::byte{3});
  for (const Operation none :
       {Operation::sum, Operation::minimum, Operation::logical_and, Operation::minloc})
    EXPECT_FALSE(has_meaning(none, Element::bytes));
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
