// SPDX-License-Identifier: BSD-3-Clause

// Blocked LU decomposition without pivoting, in one window in lock_all. In each step, ranks read
// the panel blocks that their own blocks need, each once, with MPI_Get and MPI_Win_flush; barriers
// separate the steps. Owners store their own blocks directly. Size: blocks along an edge; rounds:
// matrices, factored one after another in the same memory.
#include <map>
#include <utility>

#include "clients/blocks.h"
#include "clients/client.h"

namespace clients {
namespace {

constexpr std::size_t edge = 16, elements = edge * edge;
constexpr int block_bytes = elements * sizeof(double);

class BlockMatrix {
 public:
  explicit BlockMatrix(const Job& job) : job_(job) {
    for (std::int64_t i = 0; i < job.size; ++i) {
      for (std::int64_t j = 0; j < job.size; ++j) place_.push_back(counts_[owner(i, j)]++);
    }
    memory_.resize(static_cast<std::size_t>(counts_[job.rank]) * elements);
    MPI_Win_create(memory_.data(), counts_[job.rank] * block_bytes, block_bytes, MPI_INFO_NULL,
                   job.comm, &window_);
    MPI_Win_lock_all(0, window_);
  }
  ~BlockMatrix() {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  BlockMatrix(const BlockMatrix&) = delete;
  BlockMatrix& operator=(const BlockMatrix&) = delete;

  bool is_own(std::int64_t i, std::int64_t j) const { return owner(i, j) == job_.rank; }
  double* own(std::int64_t i, std::int64_t j) {
    return memory_.data() + static_cast<std::size_t>(place(i, j)) * elements;
  }

  // Returns block (i, j); valid until the next barrier.
  const double* block(std::int64_t i, std::int64_t j) {
    if (is_own(i, j)) return own(i, j);
    auto [found, missing] = fetched_.try_emplace({i, j}, elements);
    if (missing) {
      MPI_Get(found->second.data(), elements, MPI_DOUBLE, owner(i, j), place(i, j), elements,
              MPI_DOUBLE, window_);
      MPI_Win_flush(owner(i, j), window_);
      ++gets_;
    }
    return found->second.data();
  }

  void barrier() {
    synchronise(job_, window_);
    fetched_.clear();
  }

  std::uint64_t checksum() const { return digest(memory_); }
  std::uint64_t gets() const { return gets_; }

 private:
  int owner(std::int64_t i, std::int64_t j) const { return static_cast<int>((i + j) % job_.ranks); }
  MPI_Aint place(std::int64_t i, std::int64_t j) const {
    return place_[static_cast<std::size_t>(i * job_.size + j)];
  }

  const Job& job_;
  std::map<int, MPI_Aint> counts_;  // number of blocks of each rank
  std::vector<MPI_Aint> place_;     // index of each block among its owner's blocks
  std::vector<double> memory_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> fetched_;
  MPI_Win window_;
  std::uint64_t gets_ = 0;
};

template <class Work>
void for_own(BlockMatrix& matrix, std::int64_t first, std::int64_t last, Work work) {
  for (auto i = first; i < last; ++i) {
    for (auto j = first; j < last; ++j) {
      if (matrix.is_own(i, j)) work(i, j, matrix.own(i, j));
    }
  }
}

void fill(const Job& job, BlockMatrix& matrix, std::int64_t round) {
  for_own(matrix, 0, job.size, [&](auto i, auto j, double* a) {
    for (std::size_t e = 0; e < elements; ++e) {
      const auto drawn =
          apps::mix64(static_cast<std::uint64_t>((round << 20 | i << 10 | j) << 20) + e);
      a[e] = static_cast<double>(drawn >> 11) * 0x1p-53;
    }
    for (std::size_t e = 0; i == j && e < edge; ++e)
      a[e * edge + e] += static_cast<double>(edge) * static_cast<double>(job.size);
  });
}

}  // namespace

Outcome lu(const Job& job) {
  BlockMatrix matrix(job);
  Outcome outcome;
  run_rounds(job, outcome, [&](auto round) {
    fill(job, matrix, round);
    for (std::int64_t k = 0; k < job.size; ++k) {
      if (matrix.is_own(k, k)) factor<edge>(matrix.own(k, k));
      matrix.barrier();
      for_own(matrix, k, job.size, [&](auto i, auto j, double* a) {
        if (i > k && j == k) divide_right<edge>(a, matrix.block(k, k));
        if (i == k && j > k) divide_left<edge>(a, matrix.block(k, k));
      });
      matrix.barrier();
      for_own(matrix, k + 1, job.size, [&](auto i, auto j, double* a) {
        subtract_product<edge>(a, matrix.block(i, k), matrix.block(k, j));
      });
      matrix.barrier();
    }
    outcome.checksum += (2 * static_cast<std::uint64_t>(round) + 1) * matrix.checksum();
  });
  outcome.gets = matrix.gets();
  return outcome;
}

}  // namespace clients
