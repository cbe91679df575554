// SPDX-License-Identifier: BSD-3-Clause
#include "sample/summary_text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace sample {
namespace {

nlohmann::ordered_json traffic_json(const Traffic& traffic) {
  return {{"gets", traffic.gets}, {"bytes", traffic.bytes}};
}

}  // namespace

std::string summary_text(const Summary& s) {
  std::string text = fmt::format("graph: {} vertices, {} edges on {} {}\n", s.vertices, s.edges,
                                 s.ranks, s.ranks == 1 ? "rank" : "ranks");
  text += fmt::format("sampled: {} neighbours, {} feature rows, all of them right\n",
                      s.mean.sampled, s.mean.rows);
  text += fmt::format("checksum: {:016x}\n", s.mean.checksum);
  const auto traffic = [&](const char* what, const Traffic& t) {
    text += fmt::format("gets of {}: {} ({} bytes)\n", what, t.gets, t.bytes);
  };
  traffic("row pointers", s.mean.row_pointers);
  traffic("neighbours", s.mean.lists);
  traffic("feature rows", s.mean.features);
  text += "seconds             mean        max\n";
  const auto row = [&](const char* name, double mean, double most) {
    text += fmt::format("{:14} {:9.4f}  {:9.4f}\n", name, mean, most);
  };
  row("communication", s.mean.communication, s.slowest.communication);
  row("computation", s.mean.computation, s.slowest.computation);
  row("check", s.mean.check, s.slowest.check);
  text += fmt::format("sampling       {:.4f}\ntotal          {:.4f}\n", s.seconds_sampling,
                      s.seconds_total);
  return text;
}

std::string summary_json(const Summary& s, const Options& options, const std::string& mpi) {
  const Traffic all{s.mean.row_pointers.gets + s.mean.lists.gets + s.mean.features.gets,
                    s.mean.row_pointers.bytes + s.mean.lists.bytes + s.mean.features.bytes};
  const nlohmann::ordered_json json = {
      {"format", "sample-summary"},
      {"version", 1},
      {"input", options.source.name()},
      {"mpi", mpi},
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
