// SPDX-License-Identifier: BSD-3-Clause
#include "graph/reader_matrix_market.h"

#include <charconv>
#include <cstdint>
#include <vector>

#include <fmt/core.h>

#include "common/agreement.h"
#include "common/line_errors.h"
#include "common/text_slice.h"
#include "graph/node_memory.h"

namespace apps {
namespace {

struct MatrixHeader {
  std::uint64_t rows = 0, entries = 0;
  bool has_values = false;
  std::uint64_t bytes = 0, lines = 0;  // size of the header
};

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool parse_count(std::string_view word, std::uint64_t& value) {
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, value);
  return !word.empty() && result.ec == std::errc() && result.ptr == end;
}

bool is_number(std::string_view word) {
  if (!word.empty() && word[0] == '+') word.remove_prefix(1);
  double value = 0;
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, value);
  // A number that is out of range is still a number: values are only checked, not used.
  return !word.empty() && result.ec != std::errc::invalid_argument && result.ptr == end;
}

void read_banner(const std::string& path, std::string_view line, MatrixHeader& header) {
  const auto banner = lower(next_word(line)), object = lower(next_word(line)),
             layout = lower(next_word(line));
  const auto field = lower(next_word(line)), symmetry = lower(next_word(line));
  const auto fail = [&](const std::string& what) {
    throw Failure(fmt::format("{}:1: {}", path, what));
  };
  if (banner != "%%matrixmarket") fail("does not begin with %%MatrixMarket");
  if (object != "matrix" || layout != "coordinate") {
    fail(fmt::format("\"{} {}\" is not supported, only \"matrix coordinate\"", object, layout));
  }
  if (field != "pattern" && field != "real" && field != "integer") {
    fail(fmt::format("field \"{}\" is not supported, only pattern, real and integer", field));
  }
  if (symmetry != "general" && symmetry != "symmetric") {
    fail(fmt::format("symmetry \"{}\" is not supported, only general and symmetric", symmetry));
  }
  header.has_values = field != "pattern";
}

// Reads the banner, the comments and the size line. Reads in growing pieces, for headers with very
// long comments.
MatrixHeader read_matrix_header(const std::string& path) {
  for (std::uint64_t size = 1 << 16;; size *= 4) {
    const std::string text = read_bytes(path, 0, size);
    const bool complete = text.size() < size;
    std::string_view rest = text, line;
    MatrixHeader header;
    while (next_line(rest, line)) {
      if (rest.empty() && !complete) break;  // the line may be truncated
      ++header.lines;
      header.bytes = text.size() - rest.size();
      if (header.lines == 1) {
        read_banner(path, line, header);
        continue;
      }
      std::string_view words = line;
      const auto first = next_word(words);
      if (first.empty() || first[0] == '%') continue;
      std::uint64_t columns = 0;
      if (!parse_count(first, header.rows) || !parse_count(next_word(words), columns) ||
          !parse_count(next_word(words), header.entries) || !next_word(words).empty()) {
        throw Failure(
            fmt::format("{}:{}: not a line of sizes: \"{}\" (expected rows, columns, entries)",
                        path, header.lines, excerpt(line)));
      }
      if (header.rows != columns) {
        throw Failure(fmt::format("{}:{}: the matrix is {} x {}, an adjacency matrix is square",
                                  path, header.lines, header.rows, columns));
      }
      return header;
    }
    if (complete) throw Failure(fmt::format("{}: ends before the line of sizes", path));
  }
}

struct Entries {
  std::uint64_t count = 0;
  std::vector<std::uint64_t> edges;  // packed, both directions
};

std::string parse_entry(std::string_view line, const MatrixHeader& header, Entries& entries) {
  std::string_view rest = line;
  const std::string_view first = next_word(rest);
  if (first.empty() || first[0] == '%') return {};
  std::uint64_t row = 0, column = 0;
  const bool good = parse_count(first, row) && parse_count(next_word(rest), column) &&
                    (!header.has_values || is_number(next_word(rest))) && next_word(rest).empty();
  if (!good) {
    return fmt::format("not an entry: \"{}\" (expected row, column{})", excerpt(line),
                       header.has_values ? ", value" : "");
  }
  if (row < 1 || row > header.rows || column < 1 || column > header.rows) {
    return fmt::format("entry ({}, {}) lies outside of the {} x {} matrix", row, column,
                       header.rows, header.rows);
  }
  ++entries.count;
  append_undirected(entries.edges, row - 1, column - 1);
  return {};
}

Entries read_entries(MPI_Comm comm, const std::string& path, std::uint64_t size,
                     const MatrixHeader& header) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  Entries entries;
  const auto slice = together(comm, [&] {
    const auto [first, last] = share_of(size - header.bytes, rank, ranks);
    const std::string text = read_lines(path, header.bytes + first, header.bytes + last);
    return parse_lines(text,
                       [&](std::string_view line) { return parse_entry(line, header, entries); });
  });
  agree_on_lines(comm, path, header.lines, slice);
  std::uint64_t total = entries.count;
  check(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  if (total != header.entries) {
    agree(comm, fmt::format("{}: has {} entries, its header says {}", path, total, header.entries));
  }
  return entries;
}

}  // namespace

Graph read_matrix_market(MPI_Comm comm, const std::string& path) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  std::uint64_t size = 0;
  Partition partition;
  const auto header = together(comm, [&] {
    size = file_size(path);
    auto read = read_matrix_header(path);
    partition = Partition(read.rows, ranks);
    return read;
  });
  // An entry takes at least 4 characters in the file and becomes two directed edges (16 B) in up to
  // three places.
  require_memory(comm, 12.0 * static_cast<double>(size) / ranks, "reading " + path);
  auto entries = read_entries(comm, path, size, header);
  Graph graph = build_graph(comm, partition, std::move(entries.edges));
  graph.names.first = graph.first_vertex() + 1;
  return graph;
}

}  // namespace apps
