// SPDX-License-Identifier: BSD-3-Clause

// Conjugate gradient on a four-dimensional lattice, like MILC's solver (foMPI paper, section 4.4):
// 4 x 4 x 4 x 8 sites per rank, a complex vector of three colours on each site, a unitary matrix on
// each link, and A x = (m^2 + 8) x - sum over the eight neighbours of link times neighbour, which
// is Hermitian and positive. Each product needs the neighbours' faces. rma: a rank packs its faces
// into its window, notifies each neighbour by a fetch-and-add on the neighbour's flag, and computes
// its inner sites; once its own flags are set, it gets the faces. messages: Irecv and Isend of the
// same data. The global sums of each iteration keep a rank from packing before the others have read
// its faces.
#include <mpi.h>

#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "common/hash.h"
#include "rma/program.h"

namespace rma_apps {
namespace {

constexpr int dimensions = 4, directions = 2 * dimensions, colours = 3;
constexpr double mass_squared = 0.05;

using Number = std::complex<double>;
using Colour = std::array<Number, colours>;
using Link = std::array<Colour, colours>;  // row-major
using Place = std::array<int, dimensions>;
using Field = std::vector<Colour>;

// std::complex multiplication also handles infinities, which costs more than the product itself.
Number times(const Number& a, const Number& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Colour apply(const Link& link, const Colour& x) {
  Colour result;
  for (std::size_t row = 0; row < colours; ++row)
    result[row] = times(link[row][0], x[0]) + times(link[row][1], x[1]) + times(link[row][2], x[2]);
  return result;
}

Colour apply_adjoint(const Link& link, const Colour& x) {
  Colour result;
  for (std::size_t row = 0; row < colours; ++row)
    result[row] = times(std::conj(link[0][row]), x[0]) + times(std::conj(link[1][row]), x[1]) +
                  times(std::conj(link[2][row]), x[2]);
  return result;
}

Number inner(const Colour& a, const Colour& b) {
  return times(std::conj(a[0]), b[0]) + times(std::conj(a[1]), b[1]) + times(std::conj(a[2]), b[2]);
}

Colour random_colour(std::uint64_t seed) {
  Colour result;
  for (Number& number : result) {
    seed = apps::mix64(seed);
    number = {static_cast<double>(seed >> 40) * 0x1p-24 - 0.5,
              static_cast<double>(seed & 0xffffff) * 0x1p-24 - 0.5};
  }
  return result;
}

// Makes the rows orthonormal one after another.
Link random_link(std::uint64_t seed) {
  Link link;
  for (std::size_t row = 0; row < colours; ++row) {
    link[row] = random_colour(seed + row);
    for (std::size_t before = 0; before < row; ++before) {
      const Number share = inner(link[before], link[row]);
      for (std::size_t i = 0; i < colours; ++i) link[row][i] -= times(share, link[before][i]);
    }
    const double length = std::sqrt(inner(link[row], link[row]).real());
    for (Number& number : link[row]) number /= length;
  }
  return link;
}

// Directions: 2 d is forward in dimension d, 2 d + 1 is backward.
int opposite(int direction) { return direction ^ 1; }

class Lattice {
 public:
  Lattice(const Job& job, const Place& local) : job_(job), local_(local) {
    Place grid{}, periodic{1, 1, 1, 1};
    MPI_Dims_create(job.ranks, dimensions, grid.data());
    MPI_Cart_create(job.comm, dimensions, grid.data(), periodic.data(), 0, &comm_);
    MPI_Cart_coords(comm_, job.rank, dimensions, grid_place_.data());
    for (int d = 0; d < dimensions; ++d) {
      const auto at = static_cast<std::size_t>(d);
      size_[at] = local[at] * grid[at];
      split_[at] = grid[at] > 1;
      MPI_Cart_shift(comm_, d, 1, &neighbours_[2 * at + 1], &neighbours_[2 * at]);
      sites_ *= static_cast<std::size_t>(local[at]);
    }
    std::size_t begin = sites_;
    for (std::size_t direction = 0; direction < directions; ++direction) {
      halo_[direction] = begin;
      if (split_[direction / 2]) begin += face_size(direction);
    }
    halo_[directions] = begin;
    link_sites();
  }
  ~Lattice() { MPI_Comm_free(&comm_); }
  Lattice(const Lattice&) = delete;
  Lattice& operator=(const Lattice&) = delete;

  std::size_t sites() const { return sites_; }
  std::size_t with_halo() const { return halo_[directions]; }
  std::size_t halo(std::size_t direction) const { return halo_[direction]; }
  std::size_t face_size(std::size_t direction) const {
    return sites_ / static_cast<std::size_t>(local_[direction / 2]);
  }
  bool split(std::size_t direction) const { return split_[direction / 2]; }
  int neighbour(std::size_t direction) const { return neighbours_[direction]; }
  const std::vector<std::size_t>& face(std::size_t direction) const { return faces_[direction]; }
  const std::vector<std::size_t>& inner_sites() const { return inner_; }
  const std::vector<std::size_t>& outer_sites() const { return outer_; }

  Field random_field(std::uint64_t seed) const {
    Field field(with_halo());
    for (std::size_t site = 0; site < sites_; ++site)
      field[site] = random_colour(apps::mix64(seed) + 8 * global_[site]);
    return field;
  }

  // Returns A x at one site.
  Colour product(const Field& x, std::size_t site) const {
    Colour result;
    for (std::size_t i = 0; i < colours; ++i) result[i] = (mass_squared + directions) * x[site][i];
    for (std::size_t direction = 0; direction < directions; ++direction) {
      const Colour& other = x[beside_[site][direction]];
      const Link& link = links_[site][direction];
      const Colour part = direction % 2 == 0 ? apply(link, other) : apply_adjoint(link, other);
      for (std::size_t i = 0; i < colours; ++i) result[i] -= part[i];
    }
    return result;
  }

  Number sum_of_products(const Field& a, const Field& b) const {
    Number sum = 0;
    for (std::size_t site = 0; site < sites_; ++site) sum += inner(a[site], b[site]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, job_.comm);
    return sum;
  }

 private:
  Place place_of(std::size_t site) const {
    Place place;
    for (std::size_t d = 0; d < dimensions; ++d) {
      place[d] = static_cast<int>(site % static_cast<std::size_t>(local_[d]));
      site /= static_cast<std::size_t>(local_[d]);
    }
    return place;
  }

  std::size_t number_of(const Place& place, const Place& size) const {
    std::size_t number = 0;
    for (std::size_t d = dimensions; d-- > 0;)
      number = number * static_cast<std::size_t>(size[d]) + static_cast<std::size_t>(place[d]);
    return number;
  }

  std::uint64_t global_number(Place place) const {
    for (std::size_t d = 0; d < dimensions; ++d)
      place[d] = (place[d] + grid_place_[d] * local_[d] + size_[d]) % size_[d];
    return number_of(place, size_);
  }

  // Each site owns the forward link in dimension d.
  Link link_from(const Place& place, std::size_t d) const {
    return random_link(apps::mix64(global_number(place) * dimensions + d));
  }

  void link_sites() {
    beside_.resize(sites_);
    links_.resize(sites_);
    std::array<std::size_t, directions> in_face{};
    for (std::size_t site = 0; site < sites_; ++site) {
      const Place place = place_of(site);
      global_.push_back(global_number(place));
      bool needs_others = false;
      for (std::size_t direction = 0; direction < directions; ++direction) {
        const std::size_t d = direction / 2;
        Place other = place;
        other[d] += direction % 2 == 0 ? 1 : -1;
        links_[site][direction] = link_from(direction % 2 == 0 ? place : other, d);
        const bool outside = other[d] < 0 || other[d] >= local_[d];
        other[d] = (other[d] + local_[d]) % local_[d];
        if (outside && split_[d]) {
          // Both sides visit the sites of a face in the same order.
          faces_[direction].push_back(site);
          beside_[site][direction] = halo_[direction] + in_face[direction]++;
          needs_others = true;
        } else {
          beside_[site][direction] = number_of(other, local_);
        }
      }
      (needs_others ? outer_ : inner_).push_back(site);
    }
  }

  const Job& job_;
  Place local_, size_{}, grid_place_{};
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::array<bool, dimensions> split_{};
  std::array<int, directions> neighbours_{};
  std::size_t sites_ = 1;
  // index in a field where the sites received from each direction begin
  std::array<std::size_t, directions + 1> halo_{};
  std::array<std::vector<std::size_t>, directions> faces_;
  std::vector<std::size_t> inner_, outer_;
  std::vector<std::uint64_t> global_;
  std::vector<std::array<std::size_t, directions>> beside_;
  std::vector<std::array<Link, directions>> links_;
};

// Exchanges the faces of a field with the neighbours; inner sites can be computed between `begin`
// and `end`.
class Faces {
 public:
  Faces(const Job& job, const Lattice& lattice)
      : job_(job),
        lattice_(lattice),
        flags_(job, directions),
        packed_(job, static_cast<std::int64_t>(lattice.with_halo() - lattice.sites())),
        one_sided_(job.options.way == "rma") {
    flags_.open();
    packed_.open();
  }
  ~Faces() {
    flags_.close();
    packed_.close();
  }
  Faces(const Faces&) = delete;
  Faces& operator=(const Faces&) = delete;

  void begin(Field& field) {
    ++exchanges_;
    each([&](std::size_t direction) {
      Colour* to = packed_.memory() + at(direction);
      for (const std::size_t site : lattice_.face(direction)) *to++ = field[site];
    });
    if (one_sided_) {
      MPI_Win_sync(packed_.handle());
      each([&](std::size_t direction) {
        const auto flag = static_cast<MPI_Aint>(opposite(static_cast<int>(direction)));
        MPI_Fetch_and_op(&one_, &before_[direction], MPI_INT64_T, lattice_.neighbour(direction),
                         flag, MPI_SUM, flags_.handle());
      });
      MPI_Win_flush_all(flags_.handle());
    } else {
      requests_.clear();
      each([&](std::size_t direction) {
        MPI_Irecv(&field[lattice_.halo(direction)], count(direction), MPI_DOUBLE,
                  lattice_.neighbour(direction), opposite(static_cast<int>(direction)), job_.comm,
                  &requests_.emplace_back());
      });
      each([&](std::size_t direction) {
        MPI_Isend(packed_.memory() + at(direction), count(direction), MPI_DOUBLE,
                  lattice_.neighbour(direction), static_cast<int>(direction), job_.comm,
                  &requests_.emplace_back());
      });
    }
  }

  void end(Field& field) {
    if (!one_sided_) {
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
      return;
    }
    each([&](std::size_t direction) {
      while (flag(direction) < exchanges_) {
      }
      MPI_Get(&field[lattice_.halo(direction)], count(direction), MPI_DOUBLE,
              lattice_.neighbour(direction),
              static_cast<MPI_Aint>(
                  at(static_cast<std::size_t>(opposite(static_cast<int>(direction))))),
              count(direction), MPI_DOUBLE, packed_.handle());
    });
    MPI_Win_flush_all(packed_.handle());
  }

 private:
  template <class Work>
  void each(Work work) const {
    for (std::size_t direction = 0; direction < directions; ++direction) {
      if (lattice_.split(direction)) work(direction);
    }
  }
  std::size_t at(std::size_t direction) const {
    return lattice_.halo(direction) - lattice_.sites();
  }
  int count(std::size_t direction) const {
    return static_cast<int>(lattice_.face_size(direction) * sizeof(Colour) / sizeof(double));
  }

  // Returns how many times the neighbour in a direction has notified this rank.
  std::int64_t flag(std::size_t direction) {
    std::int64_t value = 0;
    MPI_Fetch_and_op(nullptr, &value, MPI_INT64_T, job_.rank, static_cast<MPI_Aint>(direction),
                     MPI_NO_OP, flags_.handle());
    MPI_Win_flush(job_.rank, flags_.handle());
    return value;
  }

  const Job& job_;
  const Lattice& lattice_;
  Window<std::int64_t> flags_;
  Window<Colour> packed_;
  bool one_sided_;
  std::int64_t exchanges_ = 0;
  std::array<std::int64_t, directions> before_{};
  const std::int64_t one_ = 1;
  std::vector<MPI_Request> requests_;
};

void multiply(const Lattice& lattice, Faces& faces, Field& x, Field& result) {
  faces.begin(x);
  for (const std::size_t site : lattice.inner_sites()) result[site] = lattice.product(x, site);
  faces.end(x);
  for (const std::size_t site : lattice.outer_sites()) result[site] = lattice.product(x, site);
}

void add(Field& to, double factor, const Field& what, std::size_t sites) {
  for (std::size_t site = 0; site < sites; ++site)
    for (std::size_t i = 0; i < colours; ++i) to[site][i] += factor * what[site][i];
}

// Solves A x = b and returns the norm of the residual relative to b.
double solve(const Lattice& lattice, Faces& faces, const Field& b, Field& x) {
  const std::size_t sites = lattice.sites();
  Field r = b, p = b, product(sites);
  x.assign(lattice.with_halo(), {});
  const double all = lattice.sum_of_products(b, b).real();
  double rest = all;
  for (int iteration = 0; iteration < 2000 && rest > 1e-20 * all; ++iteration) {
    multiply(lattice, faces, p, product);
    const double alpha = rest / lattice.sum_of_products(p, product).real();
    add(x, alpha, p, sites);
    add(r, -alpha, product, sites);
    const double next = lattice.sum_of_products(r, r).real();
    for (std::size_t site = 0; site < sites; ++site)
      for (std::size_t i = 0; i < colours; ++i) p[site][i] = r[site][i] + next / rest * p[site][i];
    rest = next;
  }
  multiply(lattice, faces, x, product);
  add(product, -1, b, sites);
  return std::sqrt(lattice.sum_of_products(product, product).real() / all);
}

// Returns the relative difference of <a, A b> and <A a, b>, which are equal only if the faces are
// right.
double asymmetry(const Lattice& lattice, Faces& faces) {
  Field a = lattice.random_field(11), b = lattice.random_field(12), product(lattice.sites());
  multiply(lattice, faces, b, product);
  const Number left = lattice.sum_of_products(a, product);
  multiply(lattice, faces, a, product);
  const Number right = lattice.sum_of_products(product, b);
  return std::abs(left - right) / std::abs(left);
}

Outcome run(const Job& job) {
  Outcome outcome;
  const Lattice lattice(job, {4, 4, 4, static_cast<int>(job.options.size)});
  Faces faces(job, lattice);
  outcome.correct = asymmetry(lattice, faces) < 1e-12;
  Field x;
  for (std::int64_t round = 0; round < job.options.rounds; ++round) {
    const Field b = lattice.random_field(static_cast<std::uint64_t>(round));
    double off = 1;
    timed(job, outcome, [&] { off = solve(lattice, faces, b, x); });
    outcome.correct = outcome.correct && off < 1e-9;
    // Rounded to 8 digits: further digits depend on the order of the sums.
    outcome.checksum =
        apps::mix64(outcome.checksum + static_cast<std::uint64_t>(std::llround(
                                           1e8 * std::log(lattice.sum_of_products(x, x).real()))));
  }
  return outcome;
}

const Program milc_cg{"milc_cg",
                      "Conjugate gradient on a four-dimensional lattice.",
                      {"rma", "messages"},
                      "Sites along the longest edge of a rank's 4 x 4 x 4 x N",
                      8,
                      5};

}  // namespace
}  // namespace rma_apps

int main(int argc, char** argv) {
  return rma_apps::program(rma_apps::milc_cg, argc, argv, rma_apps::run);
}
