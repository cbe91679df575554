// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/report_details.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nearcache {
namespace {

using json = nlohmann::ordered_json;

constexpr size_t classes = 64;
constexpr size_t point_words = static_cast<size_t>(outcome_count) + 5;
constexpr size_t most_targets = 256;  // larger tables are of no use to a reader
constexpr size_t most_names = 64;     // objects or calls reported per rank
constexpr size_t name_bytes = 64;

// Takes words from the front; `good` becomes false when there are too few.
class Words {
 public:
  explicit Words(const std::vector<uint64_t>& words) : words_(words) {}
  uint64_t next() {
    if (at_ >= words_.size()) return good = false, 0;
    return words_[at_++];
  }
  // Takes the number of items that follow, each of `each` words.
  size_t count(size_t each) {
    const uint64_t n = next();
    if (n > (words_.size() - at_) / each) good = false;
    return good ? static_cast<size_t>(n) : 0;
  }
  bool at_end() const { return at_ == words_.size(); }
  bool good = true;

 private:
  const std::vector<uint64_t>& words_;
  size_t at_ = 0;
};

// Appends a name, in a fixed number of words; longer names are cut at a character boundary.
void push_name(const std::string& name, std::vector<uint64_t>* words) {
  size_t length = std::min(name.size(), name_bytes);
  while (length > 0 && length < name.size() && (name[length] & 0xc0) == 0x80) --length;
  uint64_t packed[name_bytes / sizeof(uint64_t)] = {};
  std::memcpy(packed, name.data(), length);
  words->insert(words->end(), std::begin(packed), std::end(packed));
}

std::string next_name(Words* words) {
  char name[name_bytes + 1] = {};
  for (size_t at = 0; at < name_bytes; at += sizeof(uint64_t)) {
    const uint64_t word = words->next();
    std::memcpy(name + at, &word, sizeof word);
  }
  return name;
}

// Returns the `most` entries of a map with the largest size, in the map's order.
template <class Map, class Size>
std::vector<typename Map::const_iterator> largest(const Map& map, size_t most, Size size) {
  std::vector<typename Map::const_iterator> order;
  for (auto it = map.begin(); it != map.end(); ++it) order.push_back(it);
  if (order.size() > most) {
    std::ranges::stable_sort(order,
                             [&](auto a, auto b) { return size(a->second) > size(b->second); });
    order.resize(most);
    std::ranges::sort(order, [](auto a, auto b) { return a->first < b->first; });
  }
  return order;
}

auto largest_objects(const SymmetricProfile& profile, size_t most) {
  return largest(profile.objects, most, [](const SymmetricProfile::Object& object) {
    return std::pair(object.gets, object.bytes_to_network);
  });
}

void pack_symmetric(const SymmetricProfile& profile, std::vector<uint64_t>* words) {
  const auto objects = largest_objects(profile, most_names);
  words->push_back(objects.size());
  for (const auto& it : objects) {
    push_name(it->first, words);
    const SymmetricProfile::Object& o = it->second;
    words->insert(words->end(),
                  {o.bytes, o.gets, o.hits, o.bypassed, o.bytes_from_network, o.bytes_to_network});
  }
  const auto acquires = largest(profile.acquires, most_names,
                                [](const SymmetricProfile::Acquire& a) { return a.calls; });
  words->push_back(acquires.size());
  for (const auto& it : acquires) {
    push_name(it->first, words);
    words->insert(words->end(), {it->second.calls, it->second.bytes_dropped});
  }
}

void add_to(SymmetricProfile::Object* sum, const SymmetricProfile::Object& more) {
  sum->bytes = std::max(sum->bytes, more.bytes);
  sum->gets += more.gets;
  sum->hits += more.hits;
  sum->bypassed += more.bypassed;
  sum->bytes_from_network += more.bytes_from_network;
  sum->bytes_to_network += more.bytes_to_network;
}

void add_to(SymmetricProfile::Acquire* sum, const SymmetricProfile::Acquire& more) {
  sum->calls += more.calls;
  sum->bytes_dropped += more.bytes_dropped;
}

void add_to(SymmetricProfile* sums, const SymmetricProfile& more) {
  for (const auto& [name, object] : more.objects) add_to(&sums->objects[name], object);
  for (const auto& [call, acquire] : more.acquires) add_to(&sums->acquires[call], acquire);
}

// Names that differ only beyond the cut are merged.
SymmetricProfile next_symmetric(Words* words) {
  constexpr size_t name_words = name_bytes / sizeof(uint64_t);
  SymmetricProfile profile;
  for (size_t left = words->count(name_words + 6); left > 0; --left) {
    const std::string name = next_name(words);
    add_to(&profile.objects[name], {words->next(), words->next(), words->next(), words->next(),
                                    words->next(), words->next()});
  }
  for (size_t left = words->count(name_words + 2); left > 0; --left) {
    const std::string call = next_name(words);
    add_to(&profile.acquires[call], {words->next(), words->next()});
  }
  return profile;
}

// Returns true for a valid slot length: a millisecond times a power of two, so that the slots of
// all ranks align. The limit, centuries, exceeds any run.
bool is_slot(uint64_t ns) {
  return ns % Timeline::first_slot_ns == 0 && std::has_single_bit(ns / Timeline::first_slot_ns) &&
         ns <= UINT64_MAX / Timeline::most_slots / 4;
}

json objects_json(const SymmetricProfile& sums) {
  json rows = json::array();
  for (const auto& it : largest_objects(sums, most_targets)) {
    const SymmetricProfile::Object& o = it->second;
    rows.push_back({{"name", it->first},
                    {"bytes", o.bytes},
                    {"gets", o.gets},
                    {"hits", o.hits},
                    {"bypassed", o.bypassed},
                    {"bytes_from_network", o.bytes_from_network},
                    {"bytes_to_network", o.bytes_to_network}});
  }
  return rows;
}

json acquires_json(const SymmetricProfile& sums) {
  json rows = json::array();
  for (const auto& [call, acquire] : sums.acquires)
    rows.push_back(
        {{"call", call}, {"calls", acquire.calls}, {"bytes_dropped", acquire.bytes_dropped}});
  return rows;
}

json point_json(const ProfilePoint& point) {
  static constexpr const char* names[outcome_count] = {nullptr,        "hits_full", "hits_pending",
                                                       "hits_partial", "direct",    "conflicting",
                                                       "capacity",     "failing",   "bypassed"};
  json object = json::object();
  uint64_t gets = 0;
  for (const uint64_t count : point.gets) gets += count;
  object["gets"] = gets;
  for (int i = 1; i < outcome_count; ++i) object[names[i]] = point.gets[static_cast<size_t>(i)];
  object["hits_shared"] = point.hits_shared;
  object["storage_bytes"] = point.levels.storage_bytes;
  object["stored_bytes"] = point.levels.stored_bytes;
  object["index_entries"] = point.levels.index_entries;
  object["entries"] = point.levels.entries;
  return object;
}

json timeline_json(const std::vector<Timeline>& timelines) {
  uint64_t slot_ns = Timeline::first_slot_ns;
  for (const Timeline& timeline : timelines) slot_ns = std::max(slot_ns, timeline.slot_ns());
  size_t slots = 0;
  for (const Timeline& timeline : timelines) {
    const uint64_t per_slot = slot_ns / timeline.slot_ns();
    slots =
        std::max(slots, static_cast<size_t>((timeline.points().size() + per_slot - 1) / per_slot));
  }
  std::vector<ProfilePoint> sums(slots);
  for (const Timeline& timeline : timelines) {
    const std::vector<ProfilePoint> points = timeline.stretched(slot_ns, slots);
    for (size_t i = 0; i < slots; ++i) sums[i] += points[i];
  }
  json points = json::array();
  for (const ProfilePoint& point : sums) points.push_back(point_json(point));
  return {{"slot_ns", slot_ns}, {"points", points}};
}

using Targets = std::map<uint64_t, Profile::Target>;  // by rank

// Returns the targets of at least one get.
Targets asked(const std::vector<Profile::Target>& targets) {
  Targets asked;
  for (size_t rank = 0; rank < targets.size(); ++rank) {
    if (targets[rank].gets > 0) asked[rank] = targets[rank];
  }
  return asked;
}

// Returns the targets to show: all, or those with the most gets.
auto most_asked(const Targets& targets) {
  return largest(targets, most_targets, [](const Profile::Target& target) { return target.gets; });
}

}  // namespace

std::vector<uint64_t> ReportDetails::pack(const Profile& profile) {
  std::vector<uint64_t> words = {profile.timeline().slot_ns(), profile.timeline().points().size()};
  for (const ProfilePoint& point : profile.timeline().points()) {
    words.insert(words.end(), point.gets.begin(), point.gets.end());
    words.push_back(point.hits_shared);
    const ProfileLevels& levels = point.levels;
    words.insert(words.end(),
                 {levels.storage_bytes, levels.stored_bytes, levels.index_entries, levels.entries});
  }
  for (const Profile::Size& size : profile.sizes())
    words.insert(words.end(), {size.gets, size.hits});
  const Targets targets = asked(profile.targets());
  const auto chosen = most_asked(targets);
  words.push_back(chosen.size());
  for (const auto& it : chosen) {
    const Profile::Target& t = it->second;
    words.insert(words.end(), {it->first, t.gets, t.hits, t.bytes, t.bytes_from_cache});
  }
  words.push_back(profile.adaptations().size());
  for (const Profile::Adaptation& a : profile.adaptations())
    words.insert(words.end(),
                 {static_cast<uint64_t>(a.window), a.ns, a.index_entries, a.storage_bytes});
  words.push_back(static_cast<uint64_t>(1 / profile.reuse().share()));
  for (const ReuseSample::Class& c : profile.reuse().classes())
    words.insert(words.end(), {c.keys, c.gets});
  return words;
}

std::vector<uint64_t> ReportDetails::pack(const Profile& profile,
                                          const SymmetricProfile& symmetric) {
  std::vector<uint64_t> words = pack(profile);
  pack_symmetric(symmetric, &words);
  return words;
}

// The profile of one rank.
struct ReportDetails::OfRank {
  Timeline timeline;
  std::vector<Profile::Size> sizes = std::vector<Profile::Size>(classes);
  std::vector<std::pair<uint64_t, Profile::Target>> targets = {};
  std::vector<Profile::Adaptation> adaptations = {};
  double scale = 1;
  std::vector<ReuseClass> reuse = std::vector<ReuseClass>(classes);
  std::optional<SymmetricProfile> symmetric = {};
};

// Returns none if the words are malformed.
std::optional<ReportDetails::OfRank> ReportDetails::unpack(const std::vector<uint64_t>& packed) {
  Words words(packed);
  const uint64_t slot_ns = words.next();
  const size_t slots = words.count(point_words);
  if (!words.good || !is_slot(slot_ns) || slots > Timeline::most_slots) return {};
  OfRank its{Timeline(slot_ns)};
  for (size_t i = 0; i < slots; ++i) {
    ProfilePoint point;
    for (uint64_t& count : point.gets) count = words.next();
    point.hits_shared = words.next();
    point.levels = {words.next(), words.next(), words.next(), words.next()};
    its.timeline.advance(i * slot_ns, point);
  }
  for (Profile::Size& size : its.sizes) size = {words.next(), words.next()};
  its.targets.resize(words.count(5));
  for (auto& [target, t] : its.targets) {
    target = words.next();
    t = {words.next(), words.next(), words.next(), words.next()};
  }
  its.adaptations.resize(words.count(4));
  for (Profile::Adaptation& a : its.adaptations)
    a = {static_cast<int64_t>(words.next()), words.next(), words.next(), words.next()};
  its.scale = static_cast<double>(words.next());
  for (ReuseClass& c : its.reuse) {
    c.keys = its.scale * static_cast<double>(words.next());
    c.gets = its.scale * static_cast<double>(words.next());
  }
  if (words.good && !words.at_end()) its.symmetric = next_symmetric(&words);
  if (!words.good || !words.at_end() || its.scale < 1) return {};
  return its;
}

bool ReportDetails::add(int rank, const std::vector<uint64_t>& packed) {
  std::optional<OfRank> its = unpack(packed);
  if (!its) return false;
  ++ranks_;
  if (its->symmetric) {
    symmetric_ = true;
    add_to(&sums_, *its->symmetric);
  }
  timelines_.push_back(std::move(its->timeline));
  sizes_.resize(classes);
  reuse_.resize(classes);
  for (size_t i = 0; i < classes; ++i) {
    sizes_[i].gets += its->sizes[i].gets;
    sizes_[i].hits += its->sizes[i].hits;
    reuse_[i].keys += its->reuse[i].keys;
    reuse_[i].gets += its->reuse[i].gets;
  }
  for (const auto& [target, t] : its->targets) {
    Profile::Target& sum = targets_[target];
    sum.gets += t.gets;
    sum.hits += t.hits;
    sum.bytes += t.bytes;
    sum.bytes_from_cache += t.bytes_from_cache;
  }
  for (const Profile::Adaptation& what : its->adaptations) adaptations_.push_back({rank, what});
  sampled_ = std::min(sampled_, 1 / its->scale);
  return true;
}

std::string ReportDetails::json() const {
  if (empty()) return "null";
  nlohmann::ordered_json object = {{"timeline", timeline_json(timelines_)}};
  object["sizes"] = nlohmann::ordered_json::array();
  nlohmann::ordered_json reuse = nlohmann::ordered_json::array();
  for (size_t i = 0; i < classes; ++i) {
    if (sizes_[i].gets > 0)
      object["sizes"].push_back(
          {{"bytes", uint64_t{1} << i}, {"gets", sizes_[i].gets}, {"hits", sizes_[i].hits}});
    if (reuse_[i].keys > 0)
      reuse.push_back({{"times", uint64_t{1} << i},
                       {"keys", std::llround(reuse_[i].keys)},
                       {"gets", std::llround(reuse_[i].gets)}});
  }
  if (!symmetric_) object["reuse"] = {{"sampled", sampled_}, {"classes", reuse}};
  object["targets"] = nlohmann::ordered_json::array();
  for (const auto& it : most_asked(targets_)) {
    const Profile::Target& t = it->second;
    object["targets"].push_back({{"rank", it->first},
                                 {"gets", t.gets},
                                 {"hits", t.hits},
                                 {"bytes", t.bytes},
                                 {"bytes_from_cache", t.bytes_from_cache}});
  }
  if (symmetric_) {
    object["objects"] = objects_json(sums_);
    object["acquires"] = acquires_json(sums_);
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  object["adaptations"] = nlohmann::ordered_json::array();
  for (const Adaptation& a : adaptations_) {
    object["adaptations"].push_back({{"rank", a.rank},
                                     {"window", a.what.window},
                                     {"ns", a.what.ns},
                                     {"index_entries", a.what.index_entries},
                                     {"storage_bytes", a.what.storage_bytes}});
  }
  return object.dump();
}

}  // namespace nearcache
