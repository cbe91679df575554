// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/summary.h"

#include <cmath>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/agreement.h"
#include "common/hash.h"
#include "common/mpi_version.h"

namespace lcc {
namespace {

// Coefficients are summed in units of 2^-32: a sum of integers does not depend on the order, hence
// not on the number of ranks, and it fits 64 bits for any graph (n < 2^31, coefficients at most 1).
constexpr double coefficient_unit = 4294967296.0;

struct Sums {
  std::uint64_t processed = 0, corners = 0, coefficients = 0, checksum = 0, gets = 0, bytes = 0,
                entries = 0;
};
constexpr int sums_count = sizeof(Sums) / sizeof(std::uint64_t);

Sums local_sums(const Graph& graph, const std::vector<std::uint64_t>& triangles, const Cost& cost) {
  Sums sums;
  for (std::uint64_t i = 0; i < triangles.size(); ++i) {
    const auto degree = graph.degree(i), count = triangles[i];
    sums.corners += count;
    sums.coefficients +=
        static_cast<std::uint64_t>(std::llround(coefficient(degree, count) * coefficient_unit));
    sums.checksum += mix64(mix64(mix64(graph.first_vertex() + i) ^ degree) ^ count);
  }
  sums.processed = triangles.size();
  sums.gets = cost.gets;
  sums.bytes = cost.bytes;
  sums.entries = graph.adjacency.size();
  return sums;
}

Spread spread(MPI_Comm comm, double value) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  Spread result;
  check(MPI_Allreduce(&value, &result.min, 1, MPI_DOUBLE, MPI_MIN, comm), "MPI_Allreduce");
  check(MPI_Allreduce(&value, &result.mean, 1, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  check(MPI_Allreduce(&value, &result.max, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  result.mean /= ranks;
  return result;
}

template <class Part>
double mean_over_runs(const std::vector<Cost>& costs, Part&& part) {
  double sum = 0;
  for (const auto& cost : costs) sum += part(cost);
  return sum / static_cast<double>(costs.size());
}

std::string json_text(const std::string& text) {
  std::string quoted = "\"";
  for (const unsigned char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c < ' ') {
      quoted += fmt::format("\\u{:04x}", c);
    } else {
      quoted += static_cast<char>(c);
    }
  }
  return quoted + '"';
}

std::string json_spread(const Spread& spread) {
  return fmt::format(R"({{"min": {:.9f}, "mean": {:.9f}, "max": {:.9f}}})", spread.min, spread.mean,
                     spread.max);
}

}  // namespace

Summary summarize(MPI_Comm comm, const Graph& graph, const std::vector<std::uint64_t>& triangles,
                  const std::vector<Cost>& costs) {
  Sums sums = local_sums(graph, triangles, costs.front());
  check(MPI_Allreduce(MPI_IN_PLACE, &sums, sums_count, MPI_UINT64_T, MPI_SUM, comm),
        "MPI_Allreduce");
  Summary summary;
  summary.ranks = graph.partition.ranks();
  summary.vertices = graph.partition.vertices();
  summary.edges = sums.entries / 2;
  summary.processed = sums.processed;
  summary.corners = sums.corners;
  summary.average_coefficient = static_cast<double>(sums.coefficients) / coefficient_unit /
                                static_cast<double>(sums.processed);
  summary.checksum = sums.checksum;
  summary.gets = sums.gets;
  summary.bytes = sums.bytes;
  for (const auto& cost : costs) summary.lcc_runs.push_back(spread(comm, cost.lcc).max);
  summary.lcc = spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.lcc; }));
  summary.communication =
      spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.communication; }));
  summary.computation =
      spread(comm, mean_over_runs(costs, [](const Cost& cost) { return cost.computation; }));
  return summary;
}

std::string summary_text(const Summary& s) {
  std::string text = fmt::format("graph: {} vertices, {} edges on {} {}\n", s.vertices, s.edges,
                                 s.ranks, s.ranks == 1 ? "rank" : "ranks");
  if (!s.complete()) text += fmt::format("processed: {} vertices only\n", s.processed);
  if (s.complete()) text += fmt::format("triangles: {}\n", s.triangles());
  text += fmt::format("average clustering coefficient: {:.6f}\n", s.average_coefficient);
  text += fmt::format("checksum: {:016x}\n", s.checksum);
  text += fmt::format("gets: {} ({} bytes)\n", s.gets, s.bytes);
  text += "seconds              min       mean        max\n";
  const auto row = [&](const char* name, const Spread& spread) {
    text +=
        fmt::format("{:14} {:9.4f}  {:9.4f}  {:9.4f}\n", name, spread.min, spread.mean, spread.max);
  };
  row("communication", s.communication);
  row("computation", s.computation);
  row("lcc", s.lcc);
  if (s.lcc_runs.size() > 1)
    text += fmt::format("lcc, each run: {:.4f}\n", fmt::join(s.lcc_runs, " "));
  text += fmt::format("total          {:.4f}\n", s.seconds_total);
  return text;
}

std::string summary_json(const Summary& s, const std::string& input) {
  std::string json = "{\n  \"format\": \"lcc-summary\",\n  \"version\": 1";
  const auto add = [&](const char* key, const std::string& value) {
    json += fmt::format(",\n  \"{}\": {}", key, value);
  };
  add("input", json_text(input));
  add("mpi", json_text(apps::mpi_version()));
  add("ranks", fmt::format("{}", s.ranks));
  add("row_window", s.row_window ? "true" : "false");
  add("vertices", fmt::format("{}", s.vertices));
  add("edges", fmt::format("{}", s.edges));
  add("vertices_processed", fmt::format("{}", s.processed));
  add("triangles", s.complete() ? fmt::format("{}", s.triangles()) : "null");
  add("average_coefficient", fmt::format("{:.10f}", s.average_coefficient));
  add("checksum", fmt::format("\"{:016x}\"", s.checksum));
  add("gets", fmt::format("{}", s.gets));
  add("bytes", fmt::format("{}", s.bytes));
  add("seconds_total", fmt::format("{:.9f}", s.seconds_total));
  add("seconds_lcc", fmt::format("{:.9f}", s.lcc.max));
  add("seconds_lcc_runs", fmt::format("[{:.9f}]", fmt::join(s.lcc_runs, ", ")));
  add("seconds_communication", fmt::format("{:.9f}", s.communication.mean));
  add("seconds_computation", fmt::format("{:.9f}", s.computation.mean));
  add("spread", fmt::format("{{\"communication\": {}, \"computation\": {}}}",
                            json_spread(s.communication), json_spread(s.computation)));
  return json + "\n}\n";
}

}  // namespace lcc
