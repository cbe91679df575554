// SPDX-License-Identifier: BSD-3-Clause

// Sparse matrix-vector products, y = A x, x = y / |y|, in which the elements of x that other ranks
// own are read one by one: each under a shared lock, as coarray libraries do, or with MPI_Rget and
// MPI_Wait from a dynamic window, as global-array libraries do. Size: rows per rank; rounds:
// products.
#include <cmath>

#include "clients/client.h"

namespace clients {
namespace {

constexpr std::size_t entries = 9;  // per row, in random columns

struct SparseMatrix {
  std::vector<std::int64_t> column;
  std::vector<double> value;
};

SparseMatrix scattered(const Job& job) {
  SparseMatrix matrix;
  for (std::int64_t i = 0; i < job.size * static_cast<std::int64_t>(entries); ++i) {
    const auto drawn =
        apps::mix64(static_cast<std::uint64_t>(i) << 16 | static_cast<std::uint64_t>(job.rank));
    matrix.column.push_back(
        static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(job.size * job.ranks)));
    matrix.value.push_back(1 + static_cast<double>(drawn >> 56) / 256);
  }
  return matrix;
}

// `x` holds this rank's elements, which other ranks read between two calls of `barrier`;
// `element(rank, i)` reads an element of another rank.
template <class Element, class Barrier>
Outcome multiply(const Job& job, double* x, Element element, Barrier barrier) {
  const SparseMatrix matrix = scattered(job);
  const auto own = static_cast<std::size_t>(job.size);
  std::vector<double> y(own);
  Outcome outcome;
  for (std::size_t i = 0; i < own; ++i) x[i] = 1 + static_cast<double>(i % 5);
  run_rounds(job, outcome, [&](auto) {
    barrier();
    double square = 0;
    for (std::size_t row = 0; row < own; ++row) {
      y[row] = 0;
      for (auto i = entries * row; i < entries * (row + 1); ++i) {
        const auto owner = static_cast<int>(matrix.column[i] / job.size);
        const auto place = matrix.column[i] % job.size;
        y[row] += matrix.value[i] * (owner == job.rank ? x[place] : element(owner, place));
        outcome.gets += owner != job.rank;
      }
      square += y[row] * y[row];
    }
    const double norm = std::sqrt(sum_of_all(job, square));
    barrier();
    for (std::size_t i = 0; i < own; ++i) x[i] = y[i] / norm;
  });
  outcome.checksum = digest(y);
  return outcome;
}

}  // namespace

// Uses the coarray's window and, beside it, the dynamic window that coarray libraries keep for
// allocatable components.
Outcome spmv_lock(const Job& job) {
  double* x;
  MPI_Win window, components;
  MPI_Win_allocate(job.size * static_cast<MPI_Aint>(sizeof(double)), 1, MPI_INFO_NULL, job.comm, &x,
                   &window);
  MPI_Win_create_dynamic(MPI_INFO_NULL, job.comm, &components);
  MPI_Win_lock_all(0, components);
  const auto element = [&](int rank, std::int64_t i) {
    double value;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
    MPI_Get(&value, 1, MPI_DOUBLE, rank, i * static_cast<MPI_Aint>(sizeof value), 1, MPI_DOUBLE,
            window);
    MPI_Win_unlock(rank, window);
    return value;
  };
  const Outcome outcome = multiply(job, x, element, [&] { synchronise(job, components); });
  MPI_Win_unlock_all(components);
  MPI_Win_free(&components);
  MPI_Win_free(&window);
  return outcome;
}

Outcome spmv_dynamic(const Job& job) {
  std::vector<double> x(static_cast<std::size_t>(job.size));
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, job.comm, &window);
  MPI_Win_attach(window, x.data(), job.size * static_cast<MPI_Aint>(sizeof(double)));
  std::vector<MPI_Aint> first(static_cast<std::size_t>(job.ranks));
  MPI_Get_address(x.data(), &first[static_cast<std::size_t>(job.rank)]);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, first.data(), 1, MPI_AINT, job.comm);
  MPI_Win_lock_all(0, window);
  const auto element = [&](int rank, std::int64_t i) {
    double value;
    MPI_Request request;
    const auto address = MPI_Aint_add(first[static_cast<std::size_t>(rank)],
                                      i * static_cast<MPI_Aint>(sizeof value));
    MPI_Rget(&value, 1, MPI_DOUBLE, rank, address, 1, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return value;
  };
  const Outcome outcome = multiply(job, x.data(), element, [&] { synchronise(job, window); });
  MPI_Win_unlock_all(window);
  MPI_Barrier(job.comm);
  MPI_Win_detach(window, x.data());
  MPI_Win_free(&window);
  return outcome;
}

}  // namespace clients
