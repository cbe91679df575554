// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/output.h"

#include "common/agreement.h"
#include "common/shared_file.h"
#include "lcc/lcc.h"
#include "lcc/rows.h"

namespace lcc {
namespace {

struct Header {
  char magic[8] = {'L', 'C', 'C', '-', 'O', 'U', 'T', '\n'};
  std::uint32_t version = 1, flags = 0;
  std::uint64_t records = 0, zero = 0;
};
static_assert(sizeof(Header) == 32);
static_assert(sizeof(Row) == 32);

Row row_of(const Graph& graph, const std::vector<std::uint64_t>& triangles, std::uint64_t vertex) {
  const auto degree = graph.degree(vertex), count = triangles[vertex];
  return {graph.names.bits(vertex), degree, count, coefficient(degree, count)};
}

std::string text_rows(const Graph& graph, const std::vector<std::uint64_t>& triangles) {
  std::string rows;
  if (graph.rank == 0) rows += text_header;
  for (std::uint64_t i = 0; i < triangles.size(); ++i)
    append_text(rows, row_of(graph, triangles, i), graph.names.is_signed);
  return rows;
}

std::string binary_rows(const Graph& graph, const std::vector<std::uint64_t>& triangles,
                        std::uint64_t records) {
  std::string rows;
  if (graph.rank == 0) {
    Header header;
    header.flags = graph.names.is_signed;
    header.records = records;
    rows.append(reinterpret_cast<const char*>(&header), sizeof header);
  }
  for (std::uint64_t i = 0; i < triangles.size(); ++i) {
    const Row row = row_of(graph, triangles, i);
    rows.append(reinterpret_cast<const char*>(&row), sizeof row);
  }
  return rows;
}

}  // namespace

void write_values(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::string& path, OutputFormat format) {
  std::uint64_t records = triangles.size();
  check(MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  const std::string rows = together(comm, [&] {
    return format == OutputFormat::text ? text_rows(graph, triangles)
                                        : binary_rows(graph, triangles, records);
  });
  const std::uint64_t bytes = rows.size();
  std::uint64_t before = 0;
  check(MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Exscan");
  if (graph.rank == 0) before = 0;  // MPI_Exscan leaves it undefined on rank 0
  SharedFile file(comm, path);
  file.write(before, rows.data(), bytes);
  file.finish();
}

}  // namespace lcc
