// Replays and bounds: a replay does what the engine does, and no bound promises more than can be
// achieved.
#include <gtest/gtest.h>

#include <random>

#include "engine.h"
#include "sanitized.h"
#include "simulate/bounds.h"
#include "simulate/curve.h"
#include "simulate/study.h"
#include "simulate/summary.h"
#include "simulate/validity.h"
#include "trace_bytes.h"

namespace nearcache {
namespace TEST_FILE {

using namespace simulate;
using test::TemporaryFolder;
using test::TraceBytes;

constexpr uint8_t mode_off = 0, mode_transparent = 1, mode_always = 2, mode_user = 3;

struct Get {
  uint32_t target;
  int64_t displacement;
  uint64_t bytes;
};

std::vector<Get> skewed_gets(int count, int keys, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Get> gets;
  for (int i = 0; i < count; ++i) {
    const uint64_t key =
        std::min(random() % static_cast<uint64_t>(keys), random() % static_cast<uint64_t>(keys));
    gets.push_back({1 + static_cast<uint32_t>(key % 3), static_cast<int64_t>(key * 4096),
                    72 + key * 37 % 900});
  }
  return gets;
}

TraceBytes trace_of(const std::vector<Get>& gets, uint8_t mode = mode_always) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode).select(1).sync(TraceSync::lock_all);
  for (const Get& get : gets)
    trace.get(get.target, get.displacement, get.bytes)
        .sync(TraceSync::flush, static_cast<int>(get.target));
  trace.end(gets.size());
  return trace;
}

Amount amount(const std::string& text, uint64_t value) { return {text, false, 0, value}; }
Amount share(double part) { return {"share", true, part, 0}; }

StudyOptions options_of(const std::string& path, Amount storage,
                        PolicyKind policy = PolicyKind::rate) {
  StudyOptions options;
  options.traces = {path};
  options.policies = {policy};
  options.storages = {storage};
  options.indexes = {share(1.5)};
  options.model = Cost{1900, 0.17};
  options.library.skip_cheap = false;
  options.library.max_storage = 64 << 20;
  return options;
}

Study study_of(TraceBytes trace, Amount storage, std::optional<Mode> mode = std::nullopt,
               PolicyKind policy = PolicyKind::rate) {
  const TemporaryFolder folder;
  StudyOptions options = options_of(folder.write("t", trace), storage, policy);
  options.selection.mode = mode;
  Study study;
  EXPECT_EQ(run_study(options, &study), "");
  return study;
}

// The id of a freed window is reused, as MPIs do with handles; its gets were pending, or flushed
// before.
TraceBytes trace_of_a_used_id(bool flushed) {
  TraceBytes trace;
  trace.block();
  const auto gets = [&trace](int first) {
    for (int i = 0; i < 24; ++i)
      trace.get(1 + static_cast<uint32_t>(i % 3), (first + i) % 48 * 512, 300);
  };
  for (int round = 0; round < 50; ++round) {
    trace.created(1, 0, 4, mode_always).select(1).sync(TraceSync::lock_all);
    gets(round * 7);
    if (flushed) trace.sync(TraceSync::flush);
    trace.freed(1).select(1);  // the record of its creation was dropped
    gets(round * 5);
    trace.sync(TraceSync::flush, 1);
    gets(round * 5);  // those of ranks 2 and 3 are still pending
    trace.sync(TraceSync::unlock_all).freed(1);
  }
  trace.end();
  return trace;
}

TEST(Replay, GetsThatWerePendingWhenTheirWindowWasFreedAreCompletedOnce) {
  for (const PolicyKind policy : test::all_policies) {
    WindowResult results[2];
    for (const bool flushed : {false, true})
      results[flushed] =
          study_of(trace_of_a_used_id(flushed), amount("64K", 65536), std::nullopt, policy)
              .rows[0]
              .total;
    EXPECT_EQ(results[0].hits_full, 50u * 8);
    EXPECT_EQ(results[0].hits_pending, 50u * 16);
    EXPECT_EQ(results[0].hits_full, results[1].hits_full);
    EXPECT_EQ(results[0].hits_pending, results[1].hits_pending);
  }
}

TEST(Replay, IsWhatTheEngineDoesByHand) {
  const std::vector<Get> gets = skewed_gets(steps_of(20000), 700, 3);
  for (const PolicyKind policy : test::all_policies) {
    const uint64_t storage = 64 * 1024;
    test::Engine engine(test::sized(2000, storage, policy));
    uint64_t hits = 0, hit_bytes = 0;
    for (const Get& get : gets) {
      const bool hit = engine.get({get.displacement, get.target, 0}, get.bytes);
      hits += hit;
      hit_bytes += hit ? get.bytes : 0;
    }
    TraceBytes trace = trace_of(gets);
    const TemporaryFolder folder;
    StudyOptions options = options_of(folder.write("t", trace), amount("64k", storage), policy);
    options.indexes = {amount("2000", 2000)};
    Study study;
    ASSERT_EQ(run_study(options, &study), "");
    const WindowResult& result = study.rows[0].total;
    EXPECT_EQ(result.whole_hits(), hits) << policy_name(policy);
    EXPECT_EQ(result.hit_bytes, hit_bytes);
    EXPECT_EQ(result.evictions, engine.cache->evictions());
    EXPECT_EQ(result.stored_bytes, engine.cache->stored_bytes());
    EXPECT_GT(hits, gets.size() / 20);
  }
}

TEST(Replay, TransparentServesRepeatsWithinAnEpochOnlyWhereFlushesAreStrict) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_transparent).select(1).sync(TraceSync::lock_all);
  trace.get(1, 0, 64).get(1, 0, 64).get(1, 0, 32).get(2, 0, 64).sync(TraceSync::flush, -1);
  trace.get(1, 0, 64).sync(TraceSync::acquire).get(1, 0, 64).end(6);
  const TemporaryFolder folder;
  StudyOptions options = options_of(folder.write("t", trace), share(1));
  options.selection.strict_flush = true;
  Study study;
  ASSERT_EQ(run_study(options, &study), "");
  EXPECT_EQ(study.rows[0].total.hits_pending, 2u);
  EXPECT_EQ(study.rows[0].total.hits_full, 0u);
  EXPECT_EQ(study.bounds[0].infinite.hits, 2u);
  EXPECT_EQ(study.bounds[0].clairvoyant.hits, 2u);
}

TEST(Replay, TransparentKeepsDataAcrossAFlushWhileNobodyWrites) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_transparent).select(1).sync(TraceSync::lock_all);
  trace.get(1, 0, 64)
      .sync(TraceSync::flush, -1)
      .get(1, 0, 64)
      .sync(TraceSync::lock, 1)
      .get(1, 0, 64)
      .sync(TraceSync::acquire)
      .get(1, 0, 64)
      .end(4);
  const Study study = study_of(trace, share(1));
  EXPECT_EQ(study.rows[0].total.hits_full, 2u);
  EXPECT_EQ(study.bounds[0].infinite.hits, 2u);
}

TEST(Replay, TransparentKeepsNothingOnceAnotherRankWrites) {
  TraceBytes reader(0), writer(1);
  reader.block().created(1, 0, 4, mode_transparent).select(1).sync(TraceSync::lock_all);
  reader.get(1, 0, 64)
      .sync(TraceSync::flush, -1)
      .get(1, 0, 64)
      .sync(TraceSync::flush, -1)
      .time(1000000);
  reader.get(1, 0, 64).sync(TraceSync::flush, -1).get(1, 0, 64).end(4);
  writer.block().created(1, 1, 4, mode_transparent).select(1).time(500000).write(2, 0, 8).end(0);
  const TemporaryFolder folder;
  StudyOptions options = options_of(folder.write("0", reader), share(1));
  options.traces.push_back(folder.write("1", writer));
  Study study;
  ASSERT_EQ(run_study(options, &study), "");
  EXPECT_EQ(study.rows[0].total.hits_full, 1u);
}

TEST(Replay, UserInvalidationDropsEverything) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_user).select(1);
  for (int phase = 0; phase < 3; ++phase) {
    for (int i = 0; i < 10; ++i) trace.get(1, 128 * (i % 5), 64).sync(TraceSync::flush, 1);
    trace.sync(TraceSync::invalidate);
  }
  trace.end(30);
  const Study study = study_of(trace, share(2));
  EXPECT_EQ(study.rows[0].total.hits_full, 15u);
  EXPECT_EQ(study.rows[0].total.invalidations, 3u);
  EXPECT_EQ(study.bounds[0].infinite.hits, 15u);
  EXPECT_EQ(study.bounds[0].best_fixed.hits, 15u);
}

TEST(Replay, OwnWritesAreNotServedOver) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_always).select(1);
  trace.get(1, 0, 64)
      .sync(TraceSync::flush, 1)
      .get(1, 0, 64)
      .get(2, 0, 64)
      .sync(TraceSync::flush, -1);
  trace.write(1, 32, 8)
      .sync(TraceSync::flush, 1)
      .get(1, 0, 64)
      .sync(TraceSync::flush, 1)
      .get(1, 0, 64)
      .get(2, 0, 64)
      .end(6);
  const Study study = study_of(trace, share(2));
  EXPECT_EQ(study.rows[0].total.hits_full, 3u);
  EXPECT_EQ(study.bounds[0].infinite.hits, 3u);
}

TEST(Replay, GetsOfTheOwnRankAreNoRemoteGets) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_always).select(1);
  trace.get(0, 0, 64).get(0, 0, 64).get(1, 0, 64).sync(TraceSync::flush, -1).get(1, 0, 64).end(4);
  const Study study = study_of(trace, share(2));
  EXPECT_EQ(study.gets, 2u);
  EXPECT_EQ(study.rows[0].total.own_gets, 2u);
  EXPECT_EQ(study.rows[0].total.hits_full, 1u);
}

TEST(Replay, LongerGetFetchesItsTailOnly) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_always).select(1);
  for (const uint64_t bytes : {64, 256, 256}) trace.get(1, 0, bytes).sync(TraceSync::flush, 1);
  trace.end(3);
  const Study study = study_of(trace, share(2));
  EXPECT_EQ(study.rows[0].total.hits_partial, 1u);
  EXPECT_EQ(study.rows[0].total.hits_full, 1u);
  EXPECT_EQ(study.rows[0].total.hit_bytes, 64u + 256u);
  EXPECT_EQ(study.bounds[0].clairvoyant.hit_bytes, 64u + 256u);
}

TEST(Replay, WindowTracedInModeOffIsReplayedByTheRuleThatIsAskedFor) {
  const std::vector<Get> gets = skewed_gets(2000, 50, 5);
  EXPECT_EQ(study_of(trace_of(gets, mode_off), share(1)).rows[0].total.whole_hits(), 0u);
  const Study study = study_of(trace_of(gets, mode_off), share(1.2), Mode::always);
  EXPECT_EQ(study.rows[0].total.whole_hits(), study.bounds[0].infinite.hits);
}

TEST(Replay, ModeThatChangesStartsWithAnEmptyCache) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_always).select(1);
  trace.get(1, 0, 8)
      .sync(TraceSync::flush, 1)
      .get(1, 0, 8)
      .mode(1, mode_user)
      .get(1, 0, 8)
      .sync(TraceSync::flush, 1)
      .get(1, 0, 8);
  trace.mode(1, mode_off).get(1, 0, 8).end(5);
  const Study study = study_of(trace, share(2));
  EXPECT_EQ(study.rows[0].total.hits_full, 2u);
  EXPECT_EQ(study.rows[0].total.bypassed, 1u);
  EXPECT_EQ(study.bounds[0].infinite.hits, 2u);
}

TEST(Replay, AdaptiveCacheGrowsToHoldWhatReturns) {
  const std::vector<Get> gets = skewed_gets(60000, 3000, 9);
  TraceBytes trace = trace_of(gets);
  const TemporaryFolder folder;
  StudyOptions options = options_of(folder.write("t", trace), amount("16k", 16 << 10));
  options.indexes = {amount("64", 64)};
  Study fixed, adaptive;
  ASSERT_EQ(run_study(options, &fixed), "");
  options.adaptive = true;
  ASSERT_EQ(run_study(options, &adaptive), "");
  EXPECT_GT(adaptive.rows[0].total.adaptations, 3u);
  EXPECT_GT(adaptive.rows[0].total.whole_hits(), 2 * fixed.rows[0].total.whole_hits());
}

// What the reader accepts may still be impossible for a program; it must do no harm.
TEST(Replay, DamagedTracesAreReplayedWithoutHarm) {
  TraceBytes trace;
  trace.block().created(1, 0, 4, mode_always).created(2, 1, 4, mode_transparent, "", 8).select(1);
  for (int i = 0; i < 12; ++i) {
    trace.select(static_cast<uint64_t>(1 + i % 2))
        .get(static_cast<uint32_t>(i % 3), 64 * (i % 4), 64)
        .scattered(2, 64, 48, 3, 60, 400);
    trace.write(1, 32, 8)
        .sync(i % 2 ? TraceSync::flush : TraceSync::unlock, i % 3)
        .mode(1, static_cast<uint8_t>(i % 4))
        .cost(64, 2000);
    trace.owner_write(4096, 4096, 10).sync(TraceSync::invalidate);
  }
  trace.end(24);
  const test::MemoryFile file;
  std::mt19937_64 random(41);
  int replayed = 0;
  for (int round = 0; round < steps_of(3000); ++round) {
    StudyOptions options = options_of(file.write(test::damaged(trace.bytes, random)), share(0.5));
    options.adaptive = round % 4 == 0;
    options.model.reset();
    if (round % 3 == 0) options.selection.mode = Mode::always;
    Study study;
    Curves curves;
    Summaries summaries;
    if (!run_study(options, &study).empty()) continue;
    EXPECT_EQ(run_curves(options, 2, &curves), "");
    EXPECT_EQ(run_summary(options, &summaries), "");
    ++replayed;
  }
  EXPECT_GT(replayed, steps_of(300));
}

TEST(Replay, RanksAreReplayedAloneAndSummed) {
  const TemporaryFolder folder;
  TraceBytes first = trace_of(skewed_gets(3000, 100, 1)),
             second = trace_of(skewed_gets(5000, 200, 2));
  const std::string paths[] = {folder.write("0", first), folder.write("1", second)};
  Study both, one, other;
  StudyOptions options = options_of(paths[0], share(0.25));
  ASSERT_EQ(run_study(options, &one), "");
  options.traces = {paths[1]};
  ASSERT_EQ(run_study(options, &other), "");
  options.traces = {paths[0], paths[1]};
  ASSERT_EQ(run_study(options, &both), "");
  EXPECT_EQ(both.rows[0].total.whole_hits(),
            one.rows[0].total.whole_hits() + other.rows[0].total.whole_hits());
  EXPECT_EQ(both.rows[0].storage_bytes, one.rows[0].storage_bytes + other.rows[0].storage_bytes);
  EXPECT_EQ(both.bounds[0].clairvoyant.hits,
            one.bounds[0].clairvoyant.hits + other.bounds[0].clairvoyant.hits);
}

Reuse reuse_of(const std::vector<Get>& gets) {
  static Acquires acquires;
  TraceWindowInfo info;
  info.announced = true;
  info.rank = 0;
  info.ranks = 4;
  ReuseCollector collector(info, {}, &acquires);
  for (const Get& get : gets) {
    TraceEvent event;
    event.kind = TraceKind::get;
    event.target = get.target;
    event.displacement = event.from = get.displacement;
    event.bytes = get.bytes;
    event.to = event.from + static_cast<int64_t>(get.bytes);
    collector.get(event);
  }
  return collector.take();
}

// Returns the most that any schedule saves, by trying every choice of intervals.
double best_of_all(const Reuse& reuse, const Cost& cost, uint64_t storage) {
  double best = 0;
  for (uint32_t chosen = 0; chosen < 1u << reuse.intervals.size(); ++chosen) {
    double saved = 0;
    bool fits = true;
    for (uint32_t moment = 0; moment < reuse.moments && fits; ++moment) {
      uint64_t granules = 0;
      for (size_t i = 0; i < reuse.intervals.size(); ++i) {
        const Interval& interval = reuse.intervals[i];
        if ((chosen >> i & 1) != 0 && interval.from <= moment && moment < interval.to)
          granules += granules_of(interval.head);
      }
      fits = granules * granule_bytes <= storage;
    }
    for (size_t i = 0; i < reuse.intervals.size() && fits; ++i) {
      if ((chosen >> i & 1) != 0)
        saved += cost.of(reuse.intervals[i].whole, reuse.intervals[i].head);
    }
    if (fits) best = std::max(best, saved);
  }
  return best;
}

TEST(Bounds, FeasibleSchedulesNeverSaveMoreThanTheBest) {
  std::mt19937_64 random(17);
  const Cost cost{1900, 0.17};
  int reached = 0, rounds = 400;
  for (int round = 0; round < rounds; ++round) {
    std::vector<Get> gets;
    for (int i = 0; i < 14; ++i) {
      const uint64_t key = random() % 5;
      gets.push_back({1, static_cast<int64_t>(key * 100000),
                      16 + key * key * 400 + (random() % 8 == 0 ? 64 : 0)});
    }
    const Reuse reuse = reuse_of(gets);
    const Bounds bounds(reuse, cost);
    const Bounds coarse(reuse, cost, 4);
    for (const uint64_t storage : {0, 32, 512, 2048, 4096, 1 << 20}) {
      const double best = best_of_all(reuse, cost, storage) + 1e-6;
      const double clairvoyant = bounds.clairvoyant(storage).saved_ns(cost);
      ASSERT_LE(clairvoyant, best);
      ASSERT_LE(bounds.best_fixed(storage).saved_ns(cost), bounds.infinite().saved_ns(cost) + 1e-6);
      ASSERT_LE(clairvoyant, bounds.infinite().saved_ns(cost) + 1e-6);
      ASSERT_LE(coarse.clairvoyant(storage).saved_ns(cost), best);
      reached += clairvoyant > best - 1;
    }
  }
  EXPECT_GT(reached, rounds * 6 * 7 / 10);  // greedy, but not a bad schedule
}

// All gets of a key have the same size here, so a fixed set is one of the schedules tried.
TEST(Bounds, BestFixedSetIsASchedule) {
  std::mt19937_64 random(23);
  const Cost cost{1900, 0.17};
  for (int round = 0; round < 300; ++round) {
    std::vector<Get> gets;
    for (int i = 0; i < 13; ++i) {
      const uint64_t key = random() % 6;
      gets.push_back({1, static_cast<int64_t>(key * 100000), 16 + key * key * 400});
    }
    const Reuse reuse = reuse_of(gets);
    const Bounds bounds(reuse, cost);
    for (const uint64_t storage : {32, 512, 2048, 8192}) {
      ASSERT_LE(bounds.best_fixed(storage).saved_ns(cost),
                best_of_all(reuse, cost, storage) + 1e-6);
    }
  }
}

TEST(Bounds, EverythingFitsIntoEnoughStorage) {
  const Reuse reuse = reuse_of(skewed_gets(3000, 200, 4));
  const uint64_t all = reuse.distinct_bytes + 16 * reuse.keys.size();
  const Bounds bounds(reuse, Cost{});
  EXPECT_EQ(bounds.clairvoyant(all).hits, bounds.infinite().hits);
  EXPECT_EQ(bounds.best_fixed(all).hits, bounds.infinite().hits);
  EXPECT_EQ(bounds.clairvoyant(0).hits, 0u);
}

TEST(Bounds, InfiniteIsAboveClairvoyantIsAboveEveryPolicy) {
  const Study study = study_of(trace_of(skewed_gets(20000, 900, 6)), share(0.25));
  const Cost& cost = study.traces.cost;
  const StudyBounds& bounds = study.bounds[0];
  EXPECT_GE(bounds.infinite.saved_ns(cost), bounds.clairvoyant.saved_ns(cost));
  EXPECT_GE(bounds.clairvoyant.saved_ns(cost), study.rows[0].total.saved_ns(cost));
  EXPECT_GT(study.rows[0].total.saved_ns(cost), 0);
}

TEST(WrittenRanges, AgreeWithWritesByteByByte) {
  std::mt19937_64 random(31);
  WrittenRanges ranges;
  std::vector<uint64_t> written(200, 0);
  for (uint64_t time = 1; time < 3000; ++time) {
    const auto from = static_cast<int64_t>(random() % 190);
    const int64_t to = from + 1 + static_cast<int64_t>(random() % 10);
    if (random() % 2) {
      ranges.write(5, from, to, time);
      for (int64_t at = from; at < to; ++at) written[static_cast<size_t>(at)] = time;
    } else {
      const uint64_t since = time - std::min(time, random() % 40);
      bool expected = false;
      for (auto at = static_cast<size_t>(from); at < static_cast<size_t>(to); ++at)
        expected = expected || (written[at] >= since && written[at] > 0);
      ASSERT_EQ(ranges.written_since(5, from, to, since), expected);
    }
  }
  EXPECT_FALSE(ranges.written_since(6, INT64_MIN, INT64_MAX, 0));
}

TEST(Sample, HoldsItsShareOfTheKeysAndAllGetsOfEach) {
  const Sample sample(0.1);
  int held = 0;
  for (int64_t key = 0; key < 100000; ++key) held += sample.has(hash_key({key * 64, 3, 0}));
  EXPECT_NEAR(held, 10000, 500);
  EXPECT_TRUE(Sample().has(0) && Sample(1).is_all());
}

TEST(Curve, SampledCurveIsNearTheWholeOne) {
  if (sanitized) GTEST_SKIP() << "about figures of a long trace";
  const std::vector<Get> gets = skewed_gets(1200000, 60000, 8);
  TraceBytes trace = trace_of(gets);
  const TemporaryFolder folder;
  const StudyOptions options = options_of(folder.write("t", trace), share(1));
  Curves curves;
  ASSERT_EQ(run_curves(options, 3, &curves), "");
  ASSERT_EQ(curves.windows.size(), 1u);
  const WindowCurve& curve = curves.windows[0];
  EXPECT_LT(curve.sample_rate, 0.5);
  EXPECT_NEAR(curve.points.back().cost_saved, curve.infinite.cost_saved, 0.002);
  StudyOptions exact = options;
  exact.bounds = false;
  exact.storages = {amount("middle", curve.points[1].storage_bytes)};
  Study study;
  ASSERT_EQ(run_study(exact, &study), "");
  const WindowResult& total = study.rows[0].total;
  EXPECT_NEAR(curve.points[1].cost_saved,
              total.saved_ns(study.traces.cost) / total.cost_ns(study.traces.cost), 0.02);
}

TEST(Curve, EndsWhereAllThatIsReadFitsWithTheLinesAroundIt) {
  std::vector<Get> gets;
  for (int round = 0; round < 5; ++round)
    for (int64_t key = 0; key < 1500; ++key) gets.push_back({1, key * key % 1000003, 8});
  TraceBytes trace = trace_of(gets);
  const TemporaryFolder folder;
  Curves curves;
  ASSERT_EQ(run_curves(options_of(folder.write("t", trace), share(1)), 3, &curves), "");
  const WindowCurve& curve = curves.windows.at(0);
  EXPECT_EQ(curve.content.distinct_bytes, 1500u * 8);
  EXPECT_EQ(curve.content.stored_bytes, 1500u * 16);
  EXPECT_EQ(curve.points.back().storage_bytes, 1500u * 72);
  EXPECT_GE(curve.points.back().cost_saved, 0.8);
}

TEST(Summary, CountsRepeatsSizesAndWrites) {
  TraceBytes trace;
  trace.block(100).created(1, 0, 4, mode_always, "rows").select(1).sync(TraceSync::lock_all);
  trace.get(1, 0, 64)
      .get(1, 0, 64)
      .get(1, 0, 64)
      .get(2, 0, 100)
      .get(0, 0, 8)
      .write(1, 0, 8)
      .time(50)
      .owner_write(0, 4096, 20);
  trace.sync(TraceSync::flush, -1).sync(TraceSync::acquire).end(5);
  const TemporaryFolder folder;
  Summaries summaries;
  ASSERT_EQ(run_summary(options_of(folder.write("t", trace), share(1)), &summaries), "");
  ASSERT_EQ(summaries.windows.size(), 1u);
  const WindowFacts& facts = summaries.windows[0].facts;
  EXPECT_EQ(facts.gets, 4u);
  EXPECT_EQ(facts.own_gets, 1u);
  EXPECT_EQ(facts.distinct_keys, 2u);
  EXPECT_EQ(facts.distinct_bytes, 164u);
  EXPECT_EQ(facts.repeats.at(3), 1u);
  EXPECT_EQ(facts.repeats.at(1), 1u);
  EXPECT_EQ(facts.sizes[6], 3u);
  EXPECT_EQ(facts.sizes[7], 1u);
  EXPECT_EQ(facts.own_writes, 1u);
  EXPECT_EQ(facts.owner_write_bytes, 4096u);
  EXPECT_EQ(facts.writes.last - facts.writes.first, 50u);
  EXPECT_EQ(summaries.acquires, 1u);
}

}  // namespace TEST_FILE
}  // namespace nearcache
