// SPDX-License-Identifier: BSD-3-Clause

// Operations on square row-major blocks of edge x edge doubles.
#pragma once

#include <cstddef>

namespace clients {

// LU factorization in place: L (unit diagonal, not stored) below the diagonal, U on and above it.
template <std::size_t edge>
void factor(double* a) {
  for (std::size_t k = 0; k < edge; ++k) {
    for (auto i = k + 1; i < edge; ++i) {
      a[i * edge + k] /= a[k * edge + k];
      for (auto j = k + 1; j < edge; ++j) a[i * edge + j] -= a[i * edge + k] * a[k * edge + j];
    }
  }
}

// a = a / U
template <std::size_t edge>
void divide_right(double* a, const double* lu) {
  for (std::size_t i = 0; i < edge; ++i) {
    for (std::size_t k = 0; k < edge; ++k) {
      a[i * edge + k] /= lu[k * edge + k];
      for (auto j = k + 1; j < edge; ++j) a[i * edge + j] -= a[i * edge + k] * lu[k * edge + j];
    }
  }
}

// a = L \ a
template <std::size_t edge>
void divide_left(double* a, const double* lu) {
  for (std::size_t k = 0; k < edge; ++k) {
    for (auto i = k + 1; i < edge; ++i) {
      for (std::size_t j = 0; j < edge; ++j) a[i * edge + j] -= lu[i * edge + k] * a[k * edge + j];
    }
  }
}

// a = a - l u
template <std::size_t edge>
void subtract_product(double* a, const double* l, const double* u) {
  for (std::size_t i = 0; i < edge; ++i) {
    for (std::size_t k = 0; k < edge; ++k) {
      for (std::size_t j = 0; j < edge; ++j) a[i * edge + j] -= l[i * edge + k] * u[k * edge + j];
    }
  }
}

}  // namespace clients
