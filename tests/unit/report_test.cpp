#include "telemetry/report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace nearcache {
namespace TEST_FILE {

// 20 gets of three keys over 5 ms, each a hit unless it is its key's first; rank 1 has one more
// target.
Profile example_profile(int rank) {
  Profile profile;
  profile.level({}, {1 << 20, 4096, 512, 3});
  for (uint64_t i = 0; i < 20; ++i) {
    const Outcome outcome = i < 3 ? Outcome::direct : Outcome::full;
    if (i % 4 == 3) profile.hit_of_another();
    profile.get(outcome, static_cast<uint32_t>(i % 2 + static_cast<uint64_t>(rank)), 64,
                i < 3 ? 0 : 64, 1000 + i % 3);
    profile.tick(i * 250000);
  }
  profile.adapted({3, 2000000, 1024, 2 << 20});
  return profile;
}

Report example() {
  Report report;
  report.library = "An MPI 1.0";
  report.host = "node \"7\"";
  report.program = "./program";
  report.launch = {"./program -n 'two words'", "2026-11-23T06:00:00Z", "17.0", "funneled"};
  for (uint64_t rank = 0; rank < 2; ++rank) {
    RankReport one;
    one.wall_seconds = 2.0 + static_cast<double>(rank);
    one.node = 40 + rank;
    one.counters.gets = 100 * (rank + 1);
    one.counters.hits_full = 60 * (rank + 1);
    one.counters.hits_shared = 20 * (rank + 1);
    one.counters.direct = 40 * (rank + 1);
    one.counters.bytes_requested = (uint64_t{5} << 32) + rank;  // sums beyond 2^32
    one.counters.saved_ns = 1500000000;
    report.ranks.push_back(one);
  }
  WindowReport window;
  window.id = 3;
  window.name = "adjacency";
  window.mode = "always";
  window.policy = "rate";
  window.ranks = 2;
  window.sharing = 2;
  window.shared_caches = 1;
  window.counters = report.ranks[0].counters;
  report.windows.push_back(window);
  window.id = 4;
  window.sharing = window.shared_caches = 0;
  window.bypass = "shared memory";
  window.counters = {};
  report.windows.push_back(window);
  for (int rank = 0; rank < 2; ++rank)
    report.details.add(rank, ReportDetails::pack(example_profile(rank)));
  return report;
}

// Set NEARCACHE_TEST_WRITE_GOLDEN to rewrite the files after an intended change.
void expect_golden(const std::string& name, std::string text) {
  const std::size_t at = text.find(version_text());  // the only text that a release changes
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::strlen(version_text()), "VERSION");
  const std::string path = std::string(NEARCACHE_GOLDEN_FOLDER) + "/" + name;
  if (std::getenv("NEARCACHE_TEST_WRITE_GOLDEN") != nullptr) std::ofstream(path) << text << '\n';
  std::ifstream file(path);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text + '\n', golden.str()) << "differs from " << name;
}

TEST(Report, TheJsonIsTheGoldenOne) { expect_golden("report.json", report_json(example())); }
TEST(Report, TheTextIsTheGoldenOne) { expect_golden("report.txt", report_text(example())); }

TEST(Report, OneRankIsNotCalledRanks) {
  Report report = example();
  report.ranks.pop_back();
  EXPECT_NE(report_text(report).find(": 1 rank of ./program\n"), std::string::npos);
}

// Two PEs that read with 90% hits, combine ten puts into one, and occasionally bypass the cache.
Report openshmem_example() {
  Report report;
  report.api = Api::openshmem;
  report.library = "An OpenSHMEM, OpenSHMEM 1.4";
  report.program = "sweep";
  for (uint64_t pe = 0; pe < 2; ++pe) {
    RankReport one;
    one.wall_seconds = 1.5;
    Counters& c = one.counters;
    c.gets = 1000 + 10 * pe;
    c.hits_full = 900;
    c.direct = 100;
    c.bypassed = 10 * pe;
    c.puts = 500;
    c.network_puts = 50;
    c.puts_bypassed = 1;
    c.bytes_requested = 8000;
    c.bytes_from_cache = 7200;
    c.bytes_from_network = 6400;
    c.bytes_put = 4000;
    c.lines_ahead = 80;
    c.lines_ahead_used = 60;
    c.readaheads = 5;
    c.releases = 3;
    c.saved_ns = 100000000;
    report.ranks.push_back(one);
  }
  WindowReport context;
  context.name = "default context";
  context.bypass = "no memory";
  report.windows.push_back(context);
  return report;
}

TEST(Report, TheTextOfAnOpenShmemProgramIsTheGoldenOne) {
  expect_golden("report_openshmem.txt", report_text(openshmem_example()));
}

TEST(Report, AnOpenShmemProgramWhoseCacheIsOffOrPassedByIsToldSo) {
  Report report = openshmem_example();
  for (RankReport& rank : report.ranks)
    rank.counters.bypassed = rank.counters.gets, rank.counters.puts_bypassed = rank.counters.puts;
  EXPECT_NE(report_text(report).find("all gets and puts bypassed the cache"), std::string::npos);
  report.options.shmem = false;
  EXPECT_NE(report_text(report).find("the cache was switched off"), std::string::npos);
}

TEST(Report, CountersAddUpBeyondFourThousandMillion) {
  Counters a, b;
  a.bytes_requested = uint64_t{3} << 40;
  b.bytes_requested = (uint64_t{1} << 40) + 7;
  a += b;
  EXPECT_EQ(a.bytes_requested, (uint64_t{4} << 40) + 7);
  a.entries = 5;
  a.clear_gauges();
  EXPECT_EQ(a.entries, 0u);
  EXPECT_EQ(a.bytes_requested, (uint64_t{4} << 40) + 7);
}

TEST(Report, SaysHonestlyThatTheCacheDidNotHelp) {
  Report report = example();
  for (RankReport& rank : report.ranks) rank.counters.saved_ns = 1000;
  EXPECT_NE(report_text(report).find("did not help"), std::string::npos);
  for (RankReport& rank : report.ranks) rank.counters = {};
  EXPECT_NE(report_text(report).find("did not help"), std::string::npos);
  report.ranks.clear();
  EXPECT_NE(report_json(report).find("\"ranks\": 0"), std::string::npos);
}

TEST(Report, ALossIsALoss) {
  Report report = example();
  for (RankReport& rank : report.ranks) {
    rank.counters.saved_ns = 500'000'000;
    rank.counters.lost_ns = 1'500'000'000;
  }
  EXPECT_NE(
      report_text(report).find("hits cost an estimated 1.000 s per rank more than they saved"),
      std::string::npos)
      << report_text(report);
  EXPECT_NE(report_json(report).find("\"saved_seconds\": -1.0"), std::string::npos);
}

// One rank with 100 gets that missed.
Report without_hits(uint64_t conflicting, uint64_t failing, uint64_t bypassed) {
  Report report;
  RankReport one;
  one.counters.gets = 100;
  one.counters.conflicting = conflicting;
  one.counters.failing = failing;
  one.counters.bypassed = bypassed;
  one.counters.direct = 100 - conflicting - failing - bypassed;
  report.ranks.push_back(one);
  return report;
}

TEST(Report, SaysThatNothingWasRepeatedOnlyWhereMostWasKept) {
  EXPECT_NE(report_text(without_hits(0, 0, 0)).find("no get was repeated"), std::string::npos);
  EXPECT_NE(report_text(without_hits(10, 10, 30)).find("no get was repeated"), std::string::npos);
  for (const Report& report :
       {without_hits(99, 0, 0), without_hits(0, 60, 0), without_hits(20, 10, 45)}) {
    EXPECT_EQ(report_text(report).find("no get was repeated"), std::string::npos);
    EXPECT_NE(report_text(report).find("the index or the storage is small"), std::string::npos);
  }
  EXPECT_NE(report_text(without_hits(0, 0, 100)).find("all gets bypassed the cache"),
            std::string::npos);
}

TEST(Report, TheTextHoldsNoCommandsForTheTerminal) {
  Report report = example();
  report.program = "pro\x1b[31mgram\r\n\x07\xc2\x9b\x7f \xc3\xa4";
  report.windows[1].bypass = "an \x1b]0;object\x07";
  const std::string text = report_text(report);
  EXPECT_NE(text.find("of pro?[31mgram????? \xc3\xa4\n"), std::string::npos) << text;
  for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n');
}

TEST(Report, AModelledNetworkIsLabelled) {
  Report report = example();
  report.modelled = "L=1900ns G=0.17ns/B";
  EXPECT_NE(report_text(report).find("MODELLED: L=1900ns"), std::string::npos);
  EXPECT_NE(report_json(report).find("\"modelled\": \"L=1900ns"), std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace nearcache
