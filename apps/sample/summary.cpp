#include "sample/summary.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "common/agreement.h"
#include "common/mpi_version.h"

namespace sample {
namespace {

void add_counts(MPI_Comm comm, Cost& cost) {
  std::uint64_t* const counts[] = {&cost.row_pointers.gets, &cost.row_pointers.bytes, &cost.lists.gets,
                                   &cost.lists.bytes,       &cost.features.gets,      &cost.features.bytes,
                                   &cost.sampled,           &cost.rows,               &cost.checksum};
  for (std::uint64_t* count : counts) {
    check(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  }
}

nlohmann::ordered_json traffic_json(const Traffic& traffic) { return {{"gets", traffic.gets}, {"bytes", traffic.bytes}}; }

}  // namespace

Summary summarize(MPI_Comm comm, const Graph& graph, const Cost& cost) {
  Summary summary;
  summary.ranks = graph.partition.ranks();
  summary.vertices = graph.partition.vertices();
  summary.edges = total_entries(comm, graph) / 2;
  summary.mean = cost;
  add_counts(comm, summary.mean);
  const double mine[] = {cost.communication, cost.computation, cost.check};
  double sums[3], most[3];
  check(MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, comm), "MPI_Allreduce");
  check(MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
  const double ranks = summary.ranks;
  summary.mean.communication = sums[0] / ranks;
  summary.mean.computation = sums[1] / ranks;
  summary.mean.check = sums[2] / ranks;
  summary.slowest.communication = most[0];
  summary.slowest.computation = most[1];
  summary.slowest.check = most[2];
  return summary;
}

std::string summary_text(const Summary& s) {
  std::string text = fmt::format("graph: {} vertices, {} edges on {} {}\n", s.vertices, s.edges, s.ranks,
                                 s.ranks == 1 ? "rank" : "ranks");
  text += fmt::format("sampled: {} neighbours, {} feature rows, all of them right\n", s.mean.sampled, s.mean.rows);
  text += fmt::format("checksum: {:016x}\n", s.mean.checksum);
  const auto traffic = [&](const char* what, const Traffic& t) { text += fmt::format("gets of {}: {} ({} bytes)\n", what, t.gets, t.bytes); };
  traffic("row pointers", s.mean.row_pointers);
  traffic("neighbours", s.mean.lists);
  traffic("feature rows", s.mean.features);
  text += "seconds             mean        max\n";
  const auto row = [&](const char* name, double mean, double most) { text += fmt::format("{:14} {:9.4f}  {:9.4f}\n", name, mean, most); };
  row("communication", s.mean.communication, s.slowest.communication);
  row("computation", s.mean.computation, s.slowest.computation);
  row("check", s.mean.check, s.slowest.check);
  text += fmt::format("sampling       {:.4f}\ntotal          {:.4f}\n", s.seconds_sampling, s.seconds_total);
  return text;
}

std::string summary_json(const Summary& s, const Options& options) {
  const Traffic all{s.mean.row_pointers.gets + s.mean.lists.gets + s.mean.features.gets,
                    s.mean.row_pointers.bytes + s.mean.lists.bytes + s.mean.features.bytes};
  const nlohmann::ordered_json json = {
      {"format", "sample-summary"},
      {"version", 1},
      {"input", options.source.name()},
      {"mpi", apps::mpi_version()},
      {"ranks", s.ranks},
      {"vertices", s.vertices},
      {"edges", s.edges},
      {"feature_bytes", options.feature_bytes},
      {"fan_out", options.fan_outs},
      {"batch", options.batch},
      {"batches", options.batches},
      {"epochs", options.epochs},
      {"whole_lists", options.whole_lists},
      {"sampled", s.mean.sampled},
      {"rows", s.mean.rows},
      {"checksum", fmt::format("{:016x}", s.mean.checksum)},
      {"gets", all.gets},
      {"bytes", all.bytes},
      {"row_pointers", traffic_json(s.mean.row_pointers)},
      {"neighbours", traffic_json(s.mean.lists)},
      {"features", traffic_json(s.mean.features)},
      {"seconds_total", s.seconds_total},
      {"seconds_sampling", s.seconds_sampling},
      {"seconds_communication", s.mean.communication},
      {"seconds_communication_max", s.slowest.communication},
      {"seconds_computation", s.mean.computation},
      {"seconds_check", s.mean.check},
  };
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sample
