#include "load.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/core.h>

#include "agreement.h"
#include "csr_file.h"
#include "node_memory.h"
#include "reader_edge_list.h"
#include "reader_matrix_market.h"
#include "rmat.h"
#include "text_slice.h"

namespace lcc {
namespace {

bool begins_with(const std::string& text, std::string_view start) {
  if (text.size() < start.size()) return false;
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::equal(start.begin(), start.end(), text.begin(), same);
}

InputFormat format_of(const std::string& path) {
  file_size(path);  // throws for what is not a regular file
  const std::string start = read_bytes(path, 0, 16);
  if (begins_with(start, csr_magic)) return InputFormat::csr;
  if (begins_with(start, "%%MatrixMarket")) return InputFormat::matrix_market;
  return InputFormat::edge_list;
}

Graph read_graph(MPI_Comm comm, const Options& options) {
  auto format = options.input_format;
  if (format == InputFormat::automatic) format = together(comm, [&] { return format_of(options.input); });
  switch (format) {
    case InputFormat::csr: return read_csr(comm, options.input);
    case InputFormat::matrix_market: return read_matrix_market(comm, options.input);
    default: return read_edge_list(comm, options.input);
  }
}

// Every rank generates its share of the edges, then they go to their owners.
Graph generate_graph(MPI_Comm comm, const Options& options) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto vertices = std::uint64_t{1} << options.rmat_scale;
  const auto partition = together(comm, [&] { return Partition(vertices, ranks); });
  const std::uint64_t edges = vertices * options.edge_factor;
  // An edge is there in both directions, 8 B each, at its generator and at its owner, then 4 B in the lists;
  // twice that of the mean for the rank that owns the highest degrees.
  const double share = static_cast<double>(edges) / ranks;
  require_memory(comm, 48 * share + 8.0 * static_cast<double>(vertices), "generating " + options.graph_name());

  auto own = together(comm, [&] {
    const Rmat rmat(options.rmat_scale, options.seed);
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

Graph load_graph(MPI_Comm comm, const Options& options) {
  return options.input.empty() ? generate_graph(comm, options) : read_graph(comm, options);
}

}  // namespace lcc
