// The profile behind a report's details: time, sizes, reuse, and its transfer to the rank that
// writes the report.
#include "telemetry/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "telemetry/report_details.h"

namespace nearcache {
namespace TEST_FILE {

ProfilePoint with_hits(uint64_t hits) {
  ProfilePoint point;
  point.gets[static_cast<size_t>(Outcome::full)] = hits;
  return point;
}

uint64_t hits(const ProfilePoint& point) { return point.gets[static_cast<size_t>(Outcome::full)]; }

TEST(Timeline, slots_without_a_point_keep_what_held_before) {
  Timeline timeline;
  timeline.advance(0, with_hits(5));
  timeline.advance(3 * Timeline::first_slot_ns, with_hits(9));
  ASSERT_EQ(timeline.points().size(), 4u);
  EXPECT_EQ(hits(timeline.points()[2]), 5u);
  EXPECT_EQ(hits(timeline.points()[3]), 9u);
}

TEST(Timeline, a_long_run_has_longer_slots_and_never_more_of_them) {
  Timeline timeline;
  for (uint64_t i = 0; i < 5000; ++i) timeline.advance(i * Timeline::first_slot_ns, with_hits(i));
  EXPECT_LE(timeline.points().size(), Timeline::most_slots);
  EXPECT_EQ(timeline.slot_ns(), 64 * Timeline::first_slot_ns);
  EXPECT_EQ(hits(timeline.points().back()), 4999u);
  // The end of slot i is the last point before (i + 1) slots have passed.
  EXPECT_EQ(hits(timeline.points()[10]), 11 * 64 - 1u);
}

TEST(ReuseSample, is_exact_while_keys_are_few) {
  ReuseSample sample;
  for (uint64_t key = 0; key < 100; ++key) {
    for (uint64_t i = 0; i <= key % 4; ++i) sample.get(key * 0x9e3779b97f4a7c15u);
  }
  EXPECT_EQ(sample.share(), 1.0);
  const auto classes = sample.classes();
  EXPECT_EQ(classes[0].keys, 25u);
  EXPECT_EQ(classes[1].keys, 50u);
  EXPECT_EQ(classes[1].gets, 25u * 2 + 25 * 3);
  EXPECT_EQ(classes[2].keys, 25u);
}

TEST(ReuseSample, of_many_keys_it_keeps_a_share_that_stands_for_all) {
  ReuseSample sample;
  std::mt19937_64 random(1);
  constexpr uint64_t keys = 400000;
  for (uint64_t key = 0; key < keys; ++key) {
    const uint64_t hash = random();
    sample.get(hash);
    if (key % 2 == 0) sample.get(hash);
  }
  EXPECT_LT(sample.share(), 0.1);
  const auto classes = sample.classes();
  const double once = static_cast<double>(classes[0].keys) / sample.share();
  const double twice = static_cast<double>(classes[1].keys) / sample.share();
  EXPECT_NEAR(once, keys / 2, keys * 0.02);
  EXPECT_NEAR(twice, keys / 2, keys * 0.02);
}

TEST(ReportDetails, ranks_with_different_slots_are_put_on_one_time_line) {
  Profile brief, lasting;
  brief.get(Outcome::full, 0, 8, 8, 1);
  brief.tick(0);
  for (uint64_t i = 0; i < 300; ++i) {
    lasting.get(Outcome::direct, 1, 8, 0, i + 7);
    lasting.tick(i * Timeline::first_slot_ns);
  }
  ReportDetails details;
  ASSERT_TRUE(details.add(0, ReportDetails::pack(brief)));
  ASSERT_TRUE(details.add(1, ReportDetails::pack(lasting)));
  const auto json = nlohmann::json::parse(details.json());
  const auto& points = json["timeline"]["points"];
  EXPECT_EQ(json["timeline"]["slot_ns"], 4 * Timeline::first_slot_ns);
  EXPECT_EQ(points.size(), 75u);
  EXPECT_EQ(points.back()["hits_full"], 1);
  EXPECT_EQ(points.back()["direct"], 300);
  EXPECT_EQ(points.front()["direct"], 4);
  EXPECT_EQ(json["targets"].size(), 2u);
  EXPECT_EQ(json["sizes"][0]["gets"], 301);
}

SymmetricProfile example_objects() {
  SymmetricProfile symmetric;
  symmetric.objects["table"] = {4096, 10, 7, 1, 640, 64};
  symmetric.objects["grid"] = {80, 2, 0, 0, 128, 0};
  symmetric.acquires["shmem_barrier_all"] = {3, 192};
  return symmetric;
}

TEST(ReportDetails, objects_and_acquires_of_all_pes_add_up_by_name) {
  SymmetricProfile other;
  other.objects["table"] = {4096, 5, 5, 0, 0, 8};
  other.acquires["shmem_barrier_all"] = {1, 8};
  other.acquires["shmem_quiet"] = {1, 0};
  ReportDetails details;
  ASSERT_TRUE(details.add(0, ReportDetails::pack(Profile(), example_objects())));
  ASSERT_TRUE(details.add(1, ReportDetails::pack(Profile(), other)));
  const auto json = nlohmann::json::parse(details.json());
  EXPECT_EQ(json["objects"].dump(),
            R"([{"bypassed":0,"bytes":80,"bytes_from_network":128,"bytes_to_network":0,)"
            R"("gets":2,"hits":0,"name":"grid"},)"
            R"({"bypassed":1,"bytes":4096,"bytes_from_network":640,"bytes_to_network":72,)"
            R"("gets":15,"hits":12,"name":"table"}])");
  EXPECT_EQ(json["acquires"].dump(), R"([{"bytes_dropped":200,"call":"shmem_barrier_all",)"
                                     R"("calls":4},{"bytes_dropped":0,"call":"shmem_quiet",)"
                                     R"("calls":1}])");
  EXPECT_FALSE(json.contains("reuse") || json.contains("adaptations"));
}

TEST(ReportDetails, of_very_many_objects_those_with_most_gets_are_kept_and_fit) {
  SymmetricProfile symmetric;
  for (uint64_t i = 0; i < 1000; ++i) {
    symmetric.objects["object " + std::to_string(i)].gets = i;
    symmetric.acquires["call " + std::to_string(i)].calls = i;
  }
  // 65 bytes, the last two of which are one character
  std::string long_name(63, 'x');
  long_name += "\xc3\xa9";
  symmetric.objects[long_name].gets = 5000;
  Profile profile;
  for (uint32_t i = 0; i < 1000; ++i) profile.sort(1, true, i, 8, 8);
  profile.tick(1000 * Timeline::first_slot_ns);
  const std::vector<uint64_t> packed = ReportDetails::pack(profile, symmetric);
  EXPECT_LE(packed.size(), ReportDetails::most_words);
  ReportDetails details;
  ASSERT_TRUE(details.add(0, packed));
  const auto json = nlohmann::json::parse(details.json());
  EXPECT_EQ(json["objects"].size(), 64u);
  EXPECT_EQ(json["objects"][0]["gets"], 937);
  EXPECT_EQ(json["objects"].back()["name"], std::string(63, 'x'));
}

TEST(ReportDetails, names_that_are_cut_to_the_same_are_one_object_with_the_sum_of_both) {
  SymmetricProfile symmetric;
  const std::string name(64, 'x');
  symmetric.objects[name + "first"] = {8, 10, 7, 1, 640, 64};
  symmetric.objects[name + "second"] = {16, 2, 1, 0, 128, 8};
  symmetric.acquires[name + "first"] = {3, 192};
  symmetric.acquires[name + "second"] = {1, 8};
  ReportDetails details;
  ASSERT_TRUE(details.add(0, ReportDetails::pack(Profile(), symmetric)));
  const auto json = nlohmann::json::parse(details.json());
  ASSERT_EQ(json["objects"].size(), 1u);
  EXPECT_EQ(json["objects"][0]["gets"], 12);
  EXPECT_EQ(json["objects"][0]["bytes"], 16);
  EXPECT_EQ(json["acquires"].dump(),
            R"([{"bytes_dropped":200,"call":")" + name + R"(","calls":4}])");
}

TEST(ReportDetails, gets_told_in_parts_are_the_same_as_told_one_by_one) {
  Profile whole, parts;
  for (int i = 0; i < 30; ++i) whole.get(Outcome::full, 2, 24, 24, 1);
  parts.count(Outcome::full, 30);
  parts.sort(30, true, 2, 24, 24);
  whole.tick(0);
  parts.tick(0);
  EXPECT_EQ(whole.timeline().points()[0].gets, parts.timeline().points()[0].gets);
  EXPECT_EQ(whole.sizes()[5].hits, parts.sizes()[5].hits);
  EXPECT_EQ(whole.targets()[2].bytes_from_cache, parts.targets()[2].bytes_from_cache);
}

TEST(ReportDetails, slots_that_no_time_line_has_are_refused) {
  Profile profile;
  profile.tick(0);
  std::vector<uint64_t> packed = ReportDetails::pack(profile);
  constexpr uint64_t first = Timeline::first_slot_ns;
  for (const uint64_t slot : {uint64_t{0}, uint64_t{1}, first / 2, 3 * first, first << 44}) {
    packed[0] = slot;
    EXPECT_FALSE(ReportDetails().add(0, packed)) << slot;
  }
  packed[0] = first << 20;
  EXPECT_TRUE(ReportDetails().add(0, packed));
}

TEST(ReportDetails, a_target_of_any_number_takes_no_more_room_than_another) {
  Profile profile;
  profile.get(Outcome::full, 3, 8, 8, 1);
  profile.tick(0);
  std::vector<uint64_t> packed = ReportDetails::pack(profile);
  const auto rank = std::ranges::find(packed.rbegin(), packed.rend(), 3u);
  ASSERT_NE(rank, packed.rend());
  *rank = uint64_t{1} << 60;
  ReportDetails details;
  ASSERT_TRUE(details.add(0, packed));
  const auto json = nlohmann::json::parse(details.json());
  ASSERT_EQ(json["targets"].size(), 1u);
  EXPECT_EQ(json["targets"][0]["rank"], uint64_t{1} << 60);
}

TEST(ReportDetails, what_is_cut_short_or_too_long_is_refused) {
  Profile profile;
  profile.get(Outcome::full, 3, 8, 8, 1);
  profile.tick(0);
  const size_t without = ReportDetails::pack(profile).size();
  const std::vector<uint64_t> packed = ReportDetails::pack(profile, example_objects());
  for (size_t size = 0; size < packed.size(); ++size) {
    if (size == without) continue;  // like that of an MPI program
    ReportDetails details;
    EXPECT_FALSE(details.add(0, {packed.begin(), packed.begin() + static_cast<ptrdiff_t>(size)}))
        << size;
    EXPECT_EQ(details.json(), "null");
  }
  std::vector<uint64_t> longer = packed;
  longer.push_back(0);
  ReportDetails details;
  EXPECT_FALSE(details.add(0, longer));
}

}  // namespace TEST_FILE
}  // namespace nearcache
