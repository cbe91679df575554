// SPDX-License-Identifier: BSD-3-Clause
#include "load.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "../common/agreement.h"
#include "../common/line_errors.h"
#include "../common/text_slice.h"
#include "initial.h"

namespace barnes_hut {
namespace {

// Returns the range [first, last) of `count` items that belongs to `rank`.
std::pair<std::uint64_t, std::uint64_t> share_of(std::uint64_t count, int rank, int ranks) {
  const std::uint64_t each = count / ranks, rest = count % ranks, r = rank;
  const auto at = [&](std::uint64_t i) { return i * each + (i < rest ? i : rest); };
  return {at(r), at(r + 1)};
}

bool read_number(std::string_view word, double& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(value);
}

// Returns an error message, or an empty string if the line is a body, blank or a comment.
std::string read_body(std::string_view line, std::vector<Body>& bodies) {
  std::string_view rest = line;
  std::string_view word = apps::next_word(rest);
  if (word.empty() || word.front() == '#') return {};
  Body body;
  double* const fields[] = {&body.mass,       &body.position.x, &body.position.y, &body.position.z,
                            &body.velocity.x, &body.velocity.y, &body.velocity.z};
  for (double* field : fields) {
    if (!read_number(word, *field)) {
      return fmt::format("'{}' is not a body: mass x y z vx vy vz", apps::excerpt(line));
    }
    word = apps::next_word(rest);
  }
  if (!word.empty())
    return fmt::format("'{}' has more than mass x y z vx vy vz", apps::excerpt(line));
  if (body.mass <= 0) return fmt::format("'{}': the mass is not above 0", apps::excerpt(line));
  bodies.push_back(body);
  return {};
}

std::vector<Body> read_bodies(MPI_Comm comm, const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  std::vector<Body> bodies;
  const auto slice = apps::together(comm, [&] {
    const auto [first, last] = share_of(apps::file_size(path), rank, ranks);
    const std::string text = apps::read_lines(path, first, last);
    return apps::parse_lines(text, [&](std::string_view line) { return read_body(line, bodies); });
  });
  apps::agree_on_lines(comm, path, 0, slice);
  return bodies;
}

void number(MPI_Comm comm, std::vector<Body>& bodies) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const std::uint64_t mine = bodies.size();
  std::uint64_t first = 0;
  apps::check(MPI_Exscan(&mine, &first, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Exscan");
  if (rank == 0) first = 0;  // MPI_Exscan leaves it undefined on rank 0
  for (auto& body : bodies) body.id = first++;
}

std::vector<Body> generate(MPI_Comm comm, const Options& options) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  return apps::together(comm, [&] {
    const auto [first, last] = share_of(options.bodies, rank, ranks);
    std::vector<Body> bodies;
    bodies.reserve(last - first);
    for (std::uint64_t id = first; id < last; ++id) {
      bodies.push_back(initial_body(options.model, options.bodies, options.seed, id));
    }
    return bodies;
  });
}

}  // namespace

std::vector<Body> load_bodies(MPI_Comm comm, const Options& options) {
  auto bodies = options.input.empty() ? generate(comm, options) : read_bodies(comm, options.input);
  number(comm, bodies);
  std::uint64_t all = bodies.size();
  apps::check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  if (all == 0) apps::agree(comm, fmt::format("{}: there is no body in it", options.input));
  if (options.check && all > most_checked) {
    apps::agree(comm, fmt::format("--check sums directly over at most {} bodies, these are {}",
                                  most_checked, all));
  }
  return bodies;
}

}  // namespace barnes_hut
