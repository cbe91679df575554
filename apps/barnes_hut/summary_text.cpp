// SPDX-License-Identifier: BSD-3-Clause
#include "summary_text.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace barnes_hut {
namespace {

using Json = nlohmann::ordered_json;

Json cache_json(const Summary& s) {
  if (s.cached_ranks == 0) return nullptr;
  Json json = {{"ranks", s.cached_ranks}, {"memory_bytes_max", s.cache_memory}};
#define NEARCACHE_COUNTER(name, kind, unit, help) json[#name] = s.cache.name;
#include "nearcache/counters.def"
#undef NEARCACHE_COUNTER
  return json;
}

Json native_json(const Summary& s, const Options& options) {
  if (options.fetch != Fetch::native) return nullptr;
  return {{"memory_bytes", options.native_memory},
          {"block_bytes", options.block},
          {"hits", s.native_hits},
          {"misses", s.remote - s.native_hits}};
}

}  // namespace

std::string summary_text(const Summary& s) {
  std::string text =
      fmt::format("bodies: {} on {} {}, {} force {}\n", s.bodies, s.ranks,
                  s.ranks == 1 ? "rank" : "ranks", s.phases, s.phases == 1 ? "phase" : "phases");
  text += fmt::format("energy: {:.9g} -> {:.9g}, largest drift {:.3g}\n", s.energy_start,
                      s.energy_end, s.energy_drift);
  if (s.errors) {
    text += fmt::format("against direct sums: forces {:.3g}, positions {:.3g} (rms, relative)\n",
                        s.errors->acceleration, s.errors->position);
  }
  text += fmt::format("checksum: {:016x}\n", s.checksum);
  const double walks = static_cast<double>(s.bodies) * s.phases;
  text +=
      fmt::format("a body meets {:.1f} nodes, {:.1f} of them on other ranks\n",
                  static_cast<double>(s.visited) / walks, static_cast<double>(s.remote) / walks);
  text += fmt::format("gets: {} ({} bytes)\n", s.gets, s.bytes);
  text += fmt::format(
      "seconds, slowest rank: distribute {:.4f}, build {:.4f}, force {:.4f}, total {:.4f}\n",
      s.distribute, s.build, s.force, s.seconds_total);
  text += fmt::format("force busy, over the ranks: min {:.4f}, mean {:.4f}, max {:.4f}\n",
                      s.busy.min, s.busy.mean, s.busy.max);
  return text + fmt::format("force: {:.3f} us per body\n", 1e6 * s.force_per_body());
}

std::string summary_json(const Summary& s, const Options& options, const std::string& mpi) {
  Json json = {{"format", "barnes-hut-summary"},
               {"version", 1},
               {"input", options.input_name()},
               {"mpi", mpi}};
  json.update({{"ranks", s.ranks},
               {"bodies", s.bodies},
               {"steps", s.phases - 1},
               {"force_phases", s.phases}});
  json.update({{"theta", options.theta},
               {"softening", options.softening},
               {"time_step", options.time_step}});
  json["fetch"] = options.fetch == Fetch::native ? "native" : "plain";
  json["checksum"] = fmt::format("{:016x}", s.checksum);
  json["energy"] = {{"start", s.energy_start}, {"end", s.energy_end}, {"drift", s.energy_drift}};
  json["check"] = s.errors ? Json{{"acceleration_error", s.errors->acceleration},
                                  {"position_error", s.errors->position}}
                           : Json();
  json.update(
      {{"interactions", s.interactions}, {"nodes_visited", s.visited}, {"nodes_remote", s.remote}});
  json.update({{"gets", s.gets}, {"bytes", s.bytes}});
  json["force_us_per_body"] = 1e6 * s.force_per_body();
  json["seconds"] = {
      {"total", s.seconds_total},
      {"distribute", s.distribute},
      {"build", s.build},
      {"force", s.force},
      {"force_phases", s.force_phases},
      {"force_busy", {{"min", s.busy.min}, {"mean", s.busy.mean}, {"max", s.busy.max}}}};
  json["native"] = native_json(s, options);
  json["nearcache"] = cache_json(s);
  return json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace barnes_hut
