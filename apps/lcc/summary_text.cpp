// SPDX-License-Identifier: BSD-3-Clause
#include "lcc/summary_text.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace lcc {
namespace {

nlohmann::ordered_json spread_json(const Spread& spread) {
  return {{"min", spread.min}, {"mean", spread.mean}, {"max", spread.max}};
}

}  // namespace

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

std::string summary_json(const Summary& s, const std::string& input, const std::string& mpi) {
  nlohmann::ordered_json json = {
      {"format", "lcc-summary"},
      {"version", 1},
      {"input", input},
      {"mpi", mpi},
      {"ranks", s.ranks},
      {"row_window", s.row_window},
      {"vertices", s.vertices},
      {"edges", s.edges},
      {"vertices_processed", s.processed},
      {"triangles", nullptr},
      {"average_coefficient", s.average_coefficient},
      {"checksum", fmt::format("{:016x}", s.checksum)},
      {"gets", s.gets},
      {"bytes", s.bytes},
      {"seconds_total", s.seconds_total},
      {"seconds_lcc", s.lcc.max},
      {"seconds_lcc_runs", s.lcc_runs},
      {"seconds_communication", s.communication.mean},
      {"seconds_computation", s.computation.mean},
      {"spread",
       {{"communication", spread_json(s.communication)},
        {"computation", spread_json(s.computation)}}},
  };
  if (s.complete()) json["triangles"] = s.triangles();
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lcc
