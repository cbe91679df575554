// SPDX-License-Identifier: BSD-3-Clause
#include "graph/reader_edge_list.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/line_errors.h"
#include "common/text_slice.h"
#include "graph/node_memory.h"
#include "graph/vertex_ids.h"

namespace apps {
namespace {

struct RawEdges {
  std::vector<std::uint64_t> ends;  // u, v, u, v, ...
  bool negative = false;            // some id is negative: ids are two's complement
  bool large = false;               // some id is above 2^63-1
};

bool parse_id(std::string_view word, RawEdges& raw, std::uint64_t& id) {
  const char* end = word.data() + word.size();
  if (!word.empty() && word[0] == '-') {
    std::int64_t value = 0;
    const auto result = std::from_chars(word.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end) return false;
    raw.negative = raw.negative || value < 0;
    id = static_cast<std::uint64_t>(value);
    return true;
  }
  const auto result = std::from_chars(word.data(), end, id);
  if (word.empty() || result.ec != std::errc() || result.ptr != end) return false;
  raw.large = raw.large || id >> 63 != 0;
  return true;
}

std::string parse_edge(std::string_view line, RawEdges& raw) {
  std::string_view rest = line;
  const std::string_view first = next_word(rest);
  if (first.empty() || first[0] == '#' || first[0] == '%') return {};
  const std::string_view second = next_word(rest);
  std::uint64_t u = 0, v = 0;
  if (!parse_id(first, raw, u) || !parse_id(second, raw, v)) {
    return fmt::format("not an edge: \"{}\" (expected two integer ids of at most 64 bits)",
                       excerpt(line));
  }
  raw.ends.push_back(u);
  raw.ends.push_back(v);
  return {};
}

RawEdges read_raw(MPI_Comm comm, const std::string& path, std::uint64_t size) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  RawEdges raw;
  const auto slice = together(comm, [&] {
    const auto [first, last] = share_of(size, rank, ranks);
    const std::string text = read_lines(path, first, last);
    return parse_lines(text, [&](std::string_view line) { return parse_edge(line, raw); });
  });
  agree_on_lines(comm, path, 0, slice);
  int signs[2] = {raw.negative, raw.large};
  check(MPI_Allreduce(MPI_IN_PLACE, signs, 2, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  if (signs[0] && signs[1]) {
    agree(comm, fmt::format("{}: some ids are negative and some are above 2^63-1", path));
  }
  raw.negative = signs[0];
  return raw;
}

}  // namespace

Graph read_edge_list(MPI_Comm comm, const std::string& path) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const std::uint64_t size = together(comm, [&] { return file_size(path); });
  // An edge takes at least 8 characters in the file. It becomes two ids (16 B), copies of these,
  // and two directed edges (16 B) in up to three places.
  require_memory(comm, 10.0 * static_cast<double>(size) / ranks, "reading " + path);

  auto raw = read_raw(comm, path, size);
  const VertexIds ids(comm, together(comm, [&] { return raw.ends; }));
  if (ids.size() == 0) agree(comm, fmt::format("{}: there is no edge in this file", path));

  Partition partition;
  auto edges = together(comm, [&] {
    partition = Partition(ids.size(), ranks);
    std::vector<std::uint64_t> packed;
    packed.reserve(raw.ends.size());
    for (std::size_t i = 0; i < raw.ends.size(); i += 2) {
      append_undirected(packed, ids.compact(raw.ends[i]), ids.compact(raw.ends[i + 1]));
    }
    raw.ends = {};
    return packed;
  });
  Graph graph = build_graph(comm, partition, std::move(edges));
  together(comm, [&] {
    graph.names.is_signed = raw.negative;
    graph.names.listed =
        ids.slice(graph.first_vertex(), graph.first_vertex() + graph.local_vertices());
  });
  return graph;
}

}  // namespace apps
