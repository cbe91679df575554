// SPDX-License-Identifier: BSD-3-Clause
#include "graph/load.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/text_slice.h"
#include "graph/csr_file.h"
#include "graph/node_memory.h"
#include "graph/reader_edge_list.h"
#include "graph/reader_matrix_market.h"
#include "graph/rmat.h"

namespace apps {
namespace {

bool begins_with(const std::string& text, std::string_view start) {
  if (text.size() < start.size()) return false;
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::equal(start.begin(), start.end(), text.begin(), same);
}

InputFormat format_of(const std::string& path) {
  file_size(path);  // throws if it is not a regular file
  const std::string start = read_bytes(path, 0, 16);
  if (begins_with(start, csr_magic)) return InputFormat::csr;
  if (begins_with(start, "%%MatrixMarket")) return InputFormat::matrix_market;
  return InputFormat::edge_list;
}

Graph read_graph(MPI_Comm comm, const Source& source) {
  auto format = source.input_format;
  if (format == InputFormat::automatic)
    format = together(comm, [&] { return format_of(source.input); });
  switch (format) {
    case InputFormat::csr:
      return read_csr(comm, source.input);
    case InputFormat::matrix_market:
      return read_matrix_market(comm, source.input);
    default:
      return read_edge_list(comm, source.input);
  }
}

// Each rank generates its share of the edges, which are then sent to their owners.
Graph generate_graph(MPI_Comm comm, const Source& source) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto vertices = std::uint64_t{1} << source.rmat_scale;
  const auto partition = together(comm, [&] { return Partition(vertices, ranks); });
  const std::uint64_t edges = vertices * source.edge_factor;
  // Each edge exists in both directions, 8 B each, on its generator and on its owner, then takes 4
  // B per direction in the lists. The rank that owns the highest degrees may need twice the mean.
  const double share = static_cast<double>(edges) / ranks;
  require_memory(comm, 48 * share + 8.0 * static_cast<double>(vertices),
                 "generating " + source.name());

  auto own = together(comm, [&] {
    const Rmat rmat(source.rmat_scale, source.seed, !source.unpermuted);
    const auto [first, last] = share_of(edges, rank, ranks);
    std::vector<std::uint64_t> packed;
    packed.reserve(2 * (last - first));
    for (auto number = first; number < last; ++number) {
      const auto [u, v] = rmat.edge(number);
      append_undirected(packed, u, v);
    }
    return packed;
  });
  return build_graph(comm, partition, std::move(own));
}

}  // namespace

Graph load_graph(MPI_Comm comm, const Source& source) {
  return source.input.empty() ? generate_graph(comm, source) : read_graph(comm, source);
}

}  // namespace apps
