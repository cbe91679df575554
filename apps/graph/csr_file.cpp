// SPDX-License-Identifier: BSD-3-Clause
#include "graph/csr_file.h"

#include <bit>
#include <cstring>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/hash.h"
#include "common/shared_file.h"
#include "common/text_slice.h"
#include "graph/node_memory.h"

namespace apps {
namespace {

static_assert(std::endian::native == std::endian::little, "CSR files are little-endian");

struct CsrHeader {
  char magic[8] = {};
  std::uint32_t version = 0, flags = 0;
  std::uint64_t vertices = 0, entries = 0, first_name = 0;
  std::uint64_t zero[3] = {};

  bool names_listed() const { return flags & 1; }
  std::uint64_t offsets_at() const { return sizeof(CsrHeader); }
  std::uint64_t names_at() const { return offsets_at() + 8 * (vertices + 1); }
  std::uint64_t adjacency_at() const { return names_at() + (names_listed() ? 8 * vertices : 0); }
  std::uint64_t file_bytes() const { return adjacency_at() + 4 * entries; }
};
static_assert(sizeof(CsrHeader) == 64);

template <class T>
std::vector<T> read_array(const std::string& path, std::uint64_t at, std::uint64_t count) {
  const std::string bytes = read_bytes(path, at, count * sizeof(T));
  if (bytes.size() != count * sizeof(T)) throw Failure(fmt::format("{}: the file is cut", path));
  std::vector<T> array(count);
  std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

CsrHeader read_csr_header(const std::string& path) {
  const std::string bytes = read_bytes(path, 0, sizeof(CsrHeader));
  CsrHeader header;
  if (bytes.size() < sizeof(CsrHeader) || std::memcmp(bytes.data(), csr_magic, 8) != 0) {
    throw Failure(fmt::format("{}: not a CSR file of this program", path));
  }
  std::memcpy(&header, bytes.data(), sizeof(CsrHeader));
  if (header.version != 1) {
    throw Failure(fmt::format("{}: CSR version {} is not known, only 1", path, header.version));
  }
  // The bounds keep the sizes below from overflowing.
  const bool possible = header.vertices <= max_vertices && header.entries < std::uint64_t{1} << 56;
  if (!possible || file_size(path) != header.file_bytes()) {
    throw Failure(fmt::format(
        "{}: its size does not fit {} vertices and {} adjacency entries (cut or damaged)", path,
        header.vertices, header.entries));
  }
  return header;
}

void check_rows(const std::string& path, const Graph& graph) {
  for (std::uint64_t i = 0; i < graph.local_vertices(); ++i) {
    const auto v = graph.first_vertex() + i;
    std::int64_t before = -1;
    for (const Vertex u : graph.neighbours(i)) {
      if (u >= graph.partition.vertices() || u == v || static_cast<std::int64_t>(u) <= before) {
        throw Failure(fmt::format(
            "{}: the neighbours of vertex {} are not ascending vertices other than itself", path,
            v));
      }
      before = u;
    }
  }
}

Graph read_block(const std::string& path, const CsrHeader& header, const Partition& partition,
                 int rank) {
  Graph graph;
  graph.partition = partition;
  graph.rank = rank;
  const auto first = partition.first(rank), count = partition.size(rank);
  graph.offsets = read_array<std::uint64_t>(path, header.offsets_at() + 8 * first, count + 1);
  const auto begin = graph.offsets.front();
  const bool outer_ends = (rank != 0 || begin == 0) &&
                          (rank != partition.ranks() - 1 || graph.offsets.back() == header.entries);
  bool ascending = outer_ends && graph.offsets.back() <= header.entries;
  for (std::uint64_t i = 0; i < count; ++i)
    ascending = ascending && graph.offsets[i] <= graph.offsets[i + 1];
  if (!ascending)
    throw Failure(
        fmt::format("{}: the row offsets do not ascend from 0 to {}", path, header.entries));
  graph.adjacency =
      read_array<Vertex>(path, header.adjacency_at() + 4 * begin, graph.offsets.back() - begin);
  for (auto& offset : graph.offsets) offset -= begin;
  graph.names.first = header.first_name + first;
  graph.names.is_signed = header.flags & 2;
  if (header.names_listed()) {
    graph.names.listed = read_array<std::uint64_t>(path, header.names_at() + 8 * first, count);
  }
  check_rows(path, graph);
  return graph;
}

// Each edge contributes the same hash with opposite signs from its two directions, so the sum over
// all ranks is zero for an undirected graph, and hardly ever for any other.
void check_symmetry(MPI_Comm comm, const std::string& path, const Graph& graph) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < graph.local_vertices(); ++i) {
    const auto v = graph.first_vertex() + i;
    for (const Vertex u : graph.neighbours(i))
      sum += v < u ? mix64(pack_edge(v, u)) : 0 - mix64(pack_edge(u, v));
  }
  check(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  if (sum != 0) agree(comm, fmt::format("{}: some edge is there in one direction only", path));
}

}  // namespace

Graph read_csr(MPI_Comm comm, const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Partition partition;
  const auto header = together(comm, [&] {
    auto read = read_csr_header(path);
    partition = Partition(read.vertices, ranks);
    return read;
  });
  require_memory(comm, 2.5 * static_cast<double>(header.file_bytes()) / ranks, "reading " + path);
  auto graph = together(comm, [&] { return read_block(path, header, partition, rank); });
  check_symmetry(comm, path, graph);
  return graph;
}

void write_csr(MPI_Comm comm, const Graph& graph, const std::string& path) {
  std::uint64_t before = 0;
  const std::uint64_t mine = graph.adjacency.size();
  check(MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Exscan");
  if (graph.rank == 0) before = 0;  // MPI_Exscan leaves it undefined on rank 0

  CsrHeader header;
  std::memcpy(header.magic, csr_magic, 8);
  header.version = 1;
  header.flags = (graph.names.listed.empty() ? 0 : 1) | (graph.names.is_signed ? 2 : 0);
  header.vertices = graph.partition.vertices();
  header.entries = total_entries(comm, graph);
  header.first_name = graph.names.listed.empty() ? graph.names.first - graph.first_vertex() : 0;

  auto offsets = together(comm, [&] { return graph.offsets; });
  for (auto& offset : offsets) offset += before;
  const auto first = graph.first_vertex();
  SharedFile file(comm, path);
  if (graph.rank == 0) file.write(0, &header, sizeof header);
  // The last offset of a block is also the first offset of the next block, so two ranks write the
  // same value.
  file.write(header.offsets_at() + 8 * first, offsets.data(), 8 * offsets.size());
  file.write(header.names_at() + 8 * first, graph.names.listed.data(),
             8 * graph.names.listed.size());
  file.write(header.adjacency_at() + 4 * before, graph.adjacency.data(), 4 * mine);
  file.finish();
}

}  // namespace apps
