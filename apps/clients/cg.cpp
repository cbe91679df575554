// SPDX-License-Identifier: BSD-3-Clause

// Conjugate gradient in the style of a solver built on a remote-memory view: an MPI_Win_create
// window in lock_all, in which the matrix-vector product reads each element of the direction with
// an MPI_Rget and its MPI_Wait, the rank's own elements included. Owners store their own elements
// directly. Size: points along an edge of the grid, of which each rank owns `layers` layers;
// rounds: iterations.
#include <algorithm>

#include "clients/client.h"

namespace clients {
namespace {

constexpr std::int64_t layers = 2;

struct Matrix {
  std::vector<std::size_t> first{0};  // index of the row's first element
  std::vector<std::int64_t> column;
  std::vector<double> value;
};

// Couples each point with its up to 26 neighbours, as finite elements on hexahedra do.
Matrix coupled_points(const Job& job) {
  const auto n = job.size, height = layers * job.ranks;
  Matrix matrix;
  for (auto z = layers * job.rank; z < layers * (job.rank + 1); ++z) {
    for (std::int64_t row = 0; row < n * n; ++row) {
      const auto x = row % n, y = row / n;
      for (auto k = std::max<std::int64_t>(z - 1, 0); k <= std::min(z + 1, height - 1); ++k) {
        for (auto j = std::max<std::int64_t>(y - 1, 0); j <= std::min(y + 1, n - 1); ++j) {
          for (auto i = std::max<std::int64_t>(x - 1, 0); i <= std::min(x + 1, n - 1); ++i) {
            matrix.column.push_back((k * n + j) * n + i);
            matrix.value.push_back(i == x && j == y && k == z ? 26 : -1);
          }
        }
      }
      matrix.first.push_back(matrix.column.size());
    }
  }
  return matrix;
}

class View {
 public:
  View(const Job& job, std::int64_t own)
      : job_(job), own_(own), memory_(static_cast<std::size_t>(own)) {
    MPI_Win_create(memory_.data(), own * static_cast<MPI_Aint>(sizeof(double)), 1, MPI_INFO_NULL,
                   job.comm, &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~View() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  double& own(std::size_t i) { return memory_[i]; }

  double operator[](std::int64_t i) {
    const auto owner = static_cast<int>(i / own_);
    double value = 0;
    MPI_Request request;
    MPI_Rget(&value, 1, MPI_DOUBLE, owner, i % own_ * static_cast<MPI_Aint>(sizeof value), 1,
             MPI_DOUBLE, window_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    gets_ += owner != job_.rank;
    return value;
  }

  void fence() {
    MPI_Win_flush_all(window_);
    synchronise(job_, window_);
  }

  std::uint64_t gets() const { return gets_; }

 private:
  const Job& job_;
  std::int64_t own_;
  std::vector<double> memory_;
  MPI_Win window_;
  std::uint64_t gets_ = 0;
};

double dot(const Job& job, const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_of_all(job, sum);
}

void multiply(const Matrix& matrix, View& direction, std::vector<double>& product) {
  for (std::size_t row = 0; row < product.size(); ++row) {
    product[row] = 0;
    for (auto i = matrix.first[row]; i < matrix.first[row + 1]; ++i)
      product[row] += matrix.value[i] * direction[matrix.column[i]];
  }
}

}  // namespace

Outcome cg(const Job& job) {
  const Matrix matrix = coupled_points(job);
  const auto own = matrix.first.size() - 1;
  View direction(job, static_cast<std::int64_t>(own));
  std::vector<double> solution(own), residual(own), product(own);
  for (std::size_t i = 0; i < own; ++i) {
    residual[i] = static_cast<double>(1 + (i + static_cast<std::size_t>(job.rank)) % 7);
    direction.own(i) = residual[i];
  }
  double square = dot(job, residual, residual);
  Outcome outcome;
  run_rounds(job, outcome, [&](auto) {
    direction.fence();
    multiply(matrix, direction, product);
    direction.fence();
    double along = 0;
    for (std::size_t i = 0; i < own; ++i) along += product[i] * direction.own(i);
    const double step = square / sum_of_all(job, along);
    for (std::size_t i = 0; i < own; ++i) {
      solution[i] += step * direction.own(i);
      residual[i] -= step * product[i];
    }
    const double before = square;
    square = dot(job, residual, residual);
    for (std::size_t i = 0; i < own; ++i)
      direction.own(i) = residual[i] + square / before * direction.own(i);
  });
  outcome.checksum = digest(solution) + digest(residual);
  outcome.gets = direction.gets();
  return outcome;
}

}  // namespace clients
