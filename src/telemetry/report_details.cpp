#include "telemetry/report_details.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace nearcache {
namespace {

using json = nlohmann::ordered_json;

constexpr size_t classes = 64;
constexpr size_t point_words = static_cast<size_t>(outcome_count) + 4;
constexpr size_t most_targets = 256;  // a table of more is no use to a reader

// Takes words from the front; `good` turns false when there are too few.
class Words {
 public:
  explicit Words(const std::vector<uint64_t>& words) : words_(words) {}
  uint64_t next() {
    if (at_ >= words_.size()) return good = false, 0;
    return words_[at_++];
  }
  // A number of things of `each` words that follow.
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

json point_json(const ProfilePoint& point) {
  static constexpr const char* names[outcome_count] = {nullptr,        "hits_full", "hits_pending",
                                                       "hits_partial", "direct",    "conflicting",
                                                       "capacity",     "failing",   "bypassed"};
  json object = json::object();
  uint64_t gets = 0;
  for (const uint64_t count : point.gets) gets += count;
  object["gets"] = gets;
  for (int i = 1; i < outcome_count; ++i) object[names[i]] = point.gets[static_cast<size_t>(i)];
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

// The targets to show, by rank: all that were asked, or those that were asked most.
std::vector<size_t> most_asked(const std::vector<Profile::Target>& targets) {
  std::vector<size_t> order;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].gets > 0) order.push_back(i);
  }
  if (order.size() > most_targets) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return targets[a].gets > targets[b].gets; });
    order.resize(most_targets);
    std::sort(order.begin(), order.end());
  }
  return order;
}

}  // namespace

std::vector<uint64_t> ReportDetails::pack(const Profile& profile) {
  std::vector<uint64_t> words = {profile.timeline().slot_ns(), profile.timeline().points().size()};
  for (const ProfilePoint& point : profile.timeline().points()) {
    words.insert(words.end(), point.gets.begin(), point.gets.end());
    const ProfileLevels& levels = point.levels;
    words.insert(words.end(),
                 {levels.storage_bytes, levels.stored_bytes, levels.index_entries, levels.entries});
  }
  for (const Profile::Size& size : profile.sizes())
    words.insert(words.end(), {size.gets, size.hits});
  const std::vector<size_t> chosen = most_asked(profile.targets());
  words.push_back(chosen.size());
  for (const size_t rank : chosen) {
    const Profile::Target& t = profile.targets()[rank];
    words.insert(words.end(), {rank, t.gets, t.hits, t.bytes, t.bytes_from_cache});
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

bool ReportDetails::add(int rank, const std::vector<uint64_t>& packed) {
  Words words(packed);
  const uint64_t slot_ns = words.next();
  const size_t slots = words.count(point_words);
  if (!words.good || slot_ns == 0 || slots > Timeline::most_slots) return false;
  Timeline timeline(slot_ns);
  for (size_t i = 0; i < slots; ++i) {
    ProfilePoint point;
    for (uint64_t& count : point.gets) count = words.next();
    point.levels = {words.next(), words.next(), words.next(), words.next()};
    timeline.advance(i * slot_ns, point);
  }
  std::vector<Profile::Size> sizes(classes);
  for (Profile::Size& size : sizes) size = {words.next(), words.next()};
  std::vector<std::pair<uint64_t, Profile::Target>> targets(words.count(5));
  for (auto& [target, t] : targets) {
    target = words.next();
    t = {words.next(), words.next(), words.next(), words.next()};
  }
  std::vector<Adaptation> adaptations(words.count(4));
  for (Adaptation& a : adaptations) {
    a.rank = rank;
    a.what = {static_cast<int64_t>(words.next()), words.next(), words.next(), words.next()};
  }
  for (const auto& target : targets) words.good = words.good && target.first < UINT32_MAX;
  const auto scale = static_cast<double>(words.next());
  std::vector<ReuseClass> reuse(classes);
  for (ReuseClass& c : reuse) {
    c.keys = scale * static_cast<double>(words.next());
    c.gets = scale * static_cast<double>(words.next());
  }
  if (!words.good || !words.at_end() || scale < 1) return false;

  ++ranks_;
  timelines_.push_back(std::move(timeline));
  sizes_.resize(classes);
  reuse_.resize(classes);
  for (size_t i = 0; i < classes; ++i) {
    sizes_[i].gets += sizes[i].gets;
    sizes_[i].hits += sizes[i].hits;
    reuse_[i].keys += reuse[i].keys;
    reuse_[i].gets += reuse[i].gets;
  }
  for (const auto& [target, t] : targets) {
    if (target >= targets_.size()) targets_.resize(static_cast<size_t>(target) + 1);
    Profile::Target& sum = targets_[static_cast<size_t>(target)];
    sum.gets += t.gets;
    sum.hits += t.hits;
    sum.bytes += t.bytes;
    sum.bytes_from_cache += t.bytes_from_cache;
  }
  adaptations_.insert(adaptations_.end(), adaptations.begin(), adaptations.end());
  sampled_ = std::min(sampled_, 1 / scale);
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
  object["reuse"] = {{"sampled", sampled_}, {"classes", reuse}};
  object["targets"] = nlohmann::ordered_json::array();
  for (const size_t i : most_asked(targets_)) {
    const Profile::Target& t = targets_[i];
    object["targets"].push_back({{"rank", i},
                                 {"gets", t.gets},
                                 {"hits", t.hits},
                                 {"bytes", t.bytes},
                                 {"bytes_from_cache", t.bytes_from_cache}});
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
