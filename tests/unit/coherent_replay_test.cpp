// Replays in mode coherent: data that nobody wrote outlive acquires, according to the traces of all
// ranks.
#include <gtest/gtest.h>

#include "simulate/region_versions.h"
#include "simulate/study.h"
#include "trace_bytes.h"

namespace nearcache {
namespace TEST_FILE {

using namespace simulate;
using test::TemporaryFolder;
using test::TraceBytes;

constexpr int phases = 20;
constexpr uint64_t phase_ns = 1'000'000, region_bytes = 1 << 14;  // of windows of 1 MiB
constexpr uint8_t mode_transparent = 1, mode_coherent = 4;

// Rank 0 reads from each of four regions of rank 1 after every barrier; before it, rank 1 does what
// `write` says.
template <class Write>
WindowResult replay(std::optional<Mode> mode, Write write, uint8_t traced = mode_transparent,
                    Bound* infinite = nullptr) {
  TraceBytes reader(0, 2), writer(1, 2);
  reader.block().created(1, 0, 2, traced).select(1);
  writer.block().created(1, 1, 2, traced).select(1);
  for (int phase = 0; phase < phases; ++phase) {
    writer.time(phase == 0 ? phase_ns : phase_ns - 100);
    write(&writer);
    writer.time(100).sync(TraceSync::acquire);
    reader.time(phase == 0 ? phase_ns + 200 : phase_ns).sync(TraceSync::acquire);
    for (uint64_t region = 0; region < 4; ++region)
      reader.get(1, static_cast<int64_t>(region * region_bytes), 64).sync(TraceSync::flush, 1);
  }
  reader.end(4 * phases);
  writer.end();
  const TemporaryFolder folder;
  StudyOptions options;
  options.traces = {folder.write("t.0", reader), folder.write("t.1", writer)};
  options.policies = {PolicyKind::rate};
  options.storages = {{"64K", false, 0, 65536}};
  options.indexes = {{"share", true, 1.5, 0}};
  options.model = Cost{1900, 0.17};
  options.library.skip_cheap = false;
  options.selection.mode = mode;
  Study study;
  EXPECT_EQ(run_study(options, &study), "");
  if (infinite != nullptr) *infinite = study.bounds.at(0).infinite;
  return study.rows.at(0).windows.at(0);
}

const auto nothing = [](TraceBytes*) {};
const auto a_store = [](TraceBytes* trace) { trace->owner_write(0, 4096, 100); };
const auto a_put = [](TraceBytes* trace) {
  trace->write(1, static_cast<int64_t>(region_bytes), 8).sync(TraceSync::flush, 1);
};

TEST(CoherentReplay,
     what_nobody_writes_outlives_acquires_once_validations_are_known_to_bring_hits) {
  EXPECT_EQ(replay(Mode::transparent, nothing).whole_hits(), 0u);
  const WindowResult result = replay(Mode::coherent, nothing);
  EXPECT_GE(result.whole_hits(), 4u * (phases - 8));
  // some are fetched again, as the program may be polling
  EXPECT_GE(result.hits_kept, result.whole_hits());
  EXPECT_LE(result.validations, static_cast<uint64_t>(phases));
  const Cost cost;
  EXPECT_DOUBLE_EQ(result.saved_ns(cost),
                   cost.of(result.whole_hits(), result.hit_bytes) -
                       cost.of(result.validations, result.validations * sizeof(VersionWords)));
}

TEST(CoherentReplay, what_is_written_costs_the_hits_of_its_region_only) {
  const WindowResult kept = replay(Mode::coherent, nothing);
  for (const auto& result : {replay(Mode::coherent, a_store), replay(Mode::coherent, a_put)}) {
    EXPECT_EQ(result.hits_kept, kept.hits_kept / 4 * 3);
    EXPECT_EQ(result.validations, kept.validations);
  }
}

TEST(CoherentReplay, a_put_that_is_never_complete_keeps_its_region_open) {
  const auto unflushed = [first = true](TraceBytes* trace) mutable {
    if (first) trace->write(1, 0, 8);
    first = false;
  };
  EXPECT_EQ(replay(Mode::coherent, unflushed).hits_kept,
            replay(Mode::coherent, nothing).hits_kept / 4 * 3);
}

TEST(CoherentReplay, a_trace_of_a_coherent_window_is_replayed_as_such) {
  EXPECT_EQ(replay(std::nullopt, a_store, mode_coherent).hits_kept,
            replay(Mode::coherent, a_store).hits_kept);
  EXPECT_EQ(replay(std::nullopt, a_store).hits_kept, 0u);
}

TEST(CoherentReplay, no_cache_saves_more_than_the_infinite_one) {
  Bound bound;
  EXPECT_LE(replay(Mode::coherent, nothing, mode_transparent, &bound).whole_hits(), bound.hits);
  EXPECT_EQ(bound.hits, 4u * (phases - 1));
  EXPECT_LE(replay(Mode::coherent, a_store, mode_transparent, &bound).whole_hits(), bound.hits);
  EXPECT_EQ(bound.hits, 3u * (phases - 1));
}

TEST(RegionVersions, a_region_is_open_while_a_put_is_outstanding_and_has_a_new_version_after) {
  const RegionVersions versions(Regions(1 << 20),
                                {{1, 0, 0, 8, 100, 200, false}, {1, 1, 4096, 8192, 50, 150, true}});
  const VersionWords before = versions.at(1, 99), during = versions.at(1, 170),
                     after = versions.at(1, 200);
  EXPECT_TRUE(before.usable(0) && !during.usable(0) && after.usable(0));
  EXPECT_NE(before.remote[0], after.remote[0]);
  EXPECT_NE(before.own[0], during.own[0]);
  EXPECT_EQ(before.remote[1], after.remote[1]);
  EXPECT_TRUE(versions.changed(1, 0, 8, 99, 100) && !versions.changed(1, 0, 8, 100, 149));
  EXPECT_FALSE(versions.changed(1, static_cast<int64_t>(region_bytes), INT64_MAX, 0, 1000) ||
               versions.changed(0, 0, 8, 0, 1000));
}

TEST(RegionVersions, who_writes_to_many_regions_opens_all) {
  std::vector<TimedWrite> writes;
  for (int64_t region = 0; region < 4; ++region)
    writes.push_back({1, 0, region << 14, (region << 14) + 8, 100, 200, false});
  EXPECT_TRUE(RegionVersions(Regions(1 << 20), writes).at(1, 150).usable(63));
  writes.push_back({1, 0, 4 << 14, (4 << 14) + 8, 150, 200, false});
  EXPECT_FALSE(RegionVersions(Regions(1 << 20), writes).at(1, 150).usable(63));
}

}  // namespace TEST_FILE
}  // namespace nearcache
