// SPDX-License-Identifier: BSD-3-Clause

// A three-dimensional complex Fourier transform in slabs (foMPI paper, section 4.3). Each rank
// transforms its planes in x and y. As soon as a plane is done, it sends its parts to the ranks
// that transform them in z: with puts, which proceed while the next plane is computed, and a flush
// and a barrier at the end; or with non-blocking messages. The input is given by a formula, so each
// rank can generate all of it and compare its result with a serial transform.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <vector>

#ifdef RMA_APPS_FFTW
#include <fftw3.h>
#endif

#include "common/hash.h"
#include "rma/program.h"

namespace rma_apps {
namespace {

using Number = std::complex<double>;

Number root(std::size_t number, std::size_t of) {
  return std::polar(1.0, -2 * M_PI * static_cast<double>(number) / static_cast<double>(of));
}

#ifdef RMA_APPS_FFTW

// Transforms lines of `size` numbers that are `stride` apart.
class Lines {
 public:
  Lines(std::size_t size, std::size_t stride, Number* example)
      : plan_(fftw_plan_many_dft(1, sizes(size), 1, pointer(example), nullptr,
                                 static_cast<int>(stride), 0, pointer(example), nullptr,
                                 static_cast<int>(stride), 0, FFTW_FORWARD,
                                 FFTW_ESTIMATE | FFTW_UNALIGNED)) {}
  ~Lines() { fftw_destroy_plan(plan_); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  void operator()(Number* line) { fftw_execute_dft(plan_, pointer(line), pointer(line)); }

 private:
  static fftw_complex* pointer(Number* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }
  int* sizes(std::size_t size) { return size_ = static_cast<int>(size), &size_; }
  int size_ = 0;
  fftw_plan plan_;
};

#else

class Lines {
 public:
  Lines(std::size_t size, std::size_t stride, Number*)
      : size_(size), stride_(stride), roots_(size / 2), place_(size), line_(size) {
    for (std::size_t i = 0; i < size / 2; ++i) roots_[i] = root(i, size);
    for (std::size_t i = 1; i < size; ++i) place_[i] = place_[i / 2] / 2 + (i % 2) * size / 2;
  }
  void operator()(Number* line) {
    for (std::size_t i = 0; i < size_; ++i) line_[place_[i]] = line[i * stride_];
    for (std::size_t half = 1; half < size_; half *= 2) {
      for (std::size_t begin = 0; begin < size_; begin += 2 * half) {
        for (std::size_t i = 0; i < half; ++i) {
          const Number w = roots_[i * (size_ / 2 / half)], odd = line_[begin + half + i];
          const Number turned{odd.real() * w.real() - odd.imag() * w.imag(),
                              odd.real() * w.imag() + odd.imag() * w.real()};
          line_[begin + half + i] = line_[begin + i] - turned;
          line_[begin + i] += turned;
        }
      }
    }
    for (std::size_t i = 0; i < size_; ++i) line[i * stride_] = line_[i];
  }

 private:
  std::size_t size_, stride_;
  std::vector<Number> roots_;
  std::vector<std::size_t> place_;  // indices with their bits reversed
  std::vector<Number> line_;
};

#endif

// The serial transform that results are compared with: a different, recursive algorithm. `roots`
// contains the roots of unity of order `roots.size()`.
void transform(const Number* line, std::size_t size, std::size_t stride,
               const std::vector<Number>& roots, Number* result) {
  if (size == 1) {
    result[0] = line[0];
    return;
  }
  std::vector<Number> even(size / 2), odd(size / 2);
  transform(line, size / 2, 2 * stride, roots, even.data());
  transform(line + stride, size / 2, 2 * stride, roots, odd.data());
  for (std::size_t i = 0; i < size; ++i)
    result[i] = even[i % (size / 2)] + roots[i * (roots.size() / size)] * odd[i % (size / 2)];
}

Number input(std::size_t z, std::size_t y, std::size_t x, std::size_t n) {
  const std::uint64_t bits = apps::mix64((z * n + y) * n + x);
  return {static_cast<double>(bits >> 40) * 0x1p-24 - 0.5,
          static_cast<double>(bits & 0xffffff) * 0x1p-24 - 0.5};
}

class Cube {
 public:
  Cube(const Job& job, std::size_t n)
      : job_(job),
        n_(n),
        planes_(n / static_cast<std::size_t>(job.ranks)),
        mine_(planes_ * n * n),
        window_(job, static_cast<std::int64_t>(planes_ * n * n)),
        along_x_(n, 1, mine_.data()),
        along_y_(n, n, mine_.data()),
        along_z_(n, planes_ * n, mine_.data()) {
    window_.open();
  }
  ~Cube() { window_.close(); }
  Cube(const Cube&) = delete;
  Cube& operator=(const Cube&) = delete;

  void fill() {
    for (std::size_t z = 0; z < planes_; ++z)
      for (std::size_t y = 0; y < n_; ++y)
        for (std::size_t x = 0; x < n_; ++x)
          mine_[(z * n_ + y) * n_ + x] = input(first() + z, y, x, n_);
  }

  void by_puts() {
    for (std::size_t z = 0; z < planes_; ++z) {
      plane(z);
      each_part(z, [&](int to, Number* part) {
        MPI_Put(part, count(), MPI_DOUBLE, to, static_cast<MPI_Aint>(place(first() + z)), count(),
                MPI_DOUBLE, window_.handle());
      });
    }
    window_.meet();
    depth();
  }

  void by_messages() {
    std::vector<MPI_Request> requests;
    for (int from = 0; from < job_.ranks; ++from) {
      for (std::size_t z = 0; z < planes_; ++z) {
        const std::size_t at = static_cast<std::size_t>(from) * planes_ + z;
        MPI_Irecv(window_.memory() + place(at), count(), MPI_DOUBLE, from, static_cast<int>(z),
                  job_.comm, &requests.emplace_back());
      }
    }
    for (std::size_t z = 0; z < planes_; ++z) {
      plane(z);
      each_part(z, [&](int to, Number* part) {
        MPI_Isend(part, count(), MPI_DOUBLE, to, static_cast<int>(z), job_.comm,
                  &requests.emplace_back());
      });
      int all;
      // drives the progress of messages
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    depth();
  }

  // Returns the largest difference from a serial transform.
  double error() const {
    std::vector<Number> all(n_ * n_ * n_), line(n_), roots(n_);
    for (std::size_t i = 0; i < n_; ++i) roots[i] = root(i, n_);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = input(i / n_ / n_, i / n_ % n_, i % n_, n_);
    for (const std::size_t stride : {std::size_t{1}, n_, n_ * n_}) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i / stride % n_ != 0) continue;
        transform(&all[i], n_, stride, roots, line.data());
        for (std::size_t at = 0; at < n_; ++at) all[i + at * stride] = line[at];
      }
    }
    double worst = 0;
    for (std::size_t z = 0; z < n_; ++z)
      for (std::size_t y = 0; y < planes_; ++y)
        for (std::size_t x = 0; x < n_; ++x)
          worst = std::max(worst, std::abs(all[(z * n_ + first() + y) * n_ + x] -
                                           window_.memory()[place(z) + y * n_ + x]));
    return worst;
  }

  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < mine_.size(); ++i) {
      const Number value = window_.memory()[i];
      sum += apps::mix64(std::bit_cast<std::uint64_t>(value.real()) + i) ^
             apps::mix64(~std::bit_cast<std::uint64_t>(value.imag()));
    }
    return sum;
  }

 private:
  std::size_t first() const { return static_cast<std::size_t>(job_.rank) * planes_; }
  int count() const { return static_cast<int>(2 * planes_ * n_); }
  // Offset of plane z in the transposed cube, where a rank has `planes_` rows of every plane.
  std::size_t place(std::size_t z) const { return z * planes_ * n_; }

  void plane(std::size_t z) {
    Number* const at = &mine_[z * n_ * n_];
    for (std::size_t y = 0; y < n_; ++y) along_x_(at + y * n_);
    for (std::size_t x = 0; x < n_; ++x) along_y_(at + x);
  }

  // Visits the parts of a plane, starting with the next rank's, so that ranks do not all send to
  // the same target at once.
  template <class Send>
  void each_part(std::size_t z, Send send) {
    for (int i = 1; i <= job_.ranks; ++i) {
      const int to = (job_.rank + i) % job_.ranks;
      send(to, &mine_[(z * n_ + static_cast<std::size_t>(to) * planes_) * n_]);
    }
  }

  void depth() {
    for (std::size_t i = 0; i < planes_ * n_; ++i) along_z_(window_.memory() + i);
  }

  const Job& job_;
  std::size_t n_, planes_;
  std::vector<Number> mine_;  // the planes before the transposition
  Window<Number> window_;     // the transposed cube
  Lines along_x_, along_y_, along_z_;
};

Outcome run(const Job& job) {
  Outcome outcome;
  const auto n = static_cast<std::size_t>(job.options.size);
  if ((n & (n - 1)) != 0 || n % static_cast<std::size_t>(job.ranks) != 0) {
    if (job.rank == 0)
      std::fprintf(stderr, "fft3d: --size %zu is not a power of two that %d ranks divide\n", n,
                   job.ranks);
    return outcome;
  }
  Cube cube(job, n);
  for (std::int64_t round = 0; round < job.options.rounds; ++round) {
    cube.fill();
    timed(job, outcome,
          [&] { job.options.way == "messages" ? cube.by_messages() : cube.by_puts(); });
  }
  outcome.correct = job.all(cube.error() < 1e-9 * static_cast<double>(n * n));
  outcome.checksum = job.sum(cube.checksum());
  return outcome;
}

const Program fft3d{"fft3d",
                    "A three-dimensional Fourier transform in slabs.",
                    {"puts", "messages"},
                    "Points along an edge, a power of two",
                    64,
                    5};

}  // namespace
}  // namespace rma_apps

int main(int argc, char** argv) {
  return rma_apps::program(rma_apps::fft3d, argc, argv, rma_apps::run);
}
