// The reader of traces: the contents of a file are understood, and nothing in it is trusted.
#include <gtest/gtest.h>

#include <random>

#include "sanitized.h"
#include "simulate/trace_reader.h"
#include "telemetry/trace_writer.h"
#include "trace_bytes.h"

namespace nearcache {
namespace TEST_FILE {

using simulate::TraceEvent;
using simulate::TraceReader;
using test::TemporaryFolder;
using test::TraceBytes;

struct Read {
  std::string open_error, error;
  bool cut_short = false;
  uint64_t dropped = 0;
  std::vector<TraceEvent> events;
  std::vector<simulate::TraceWindowInfo> windows;
  simulate::TraceHeader header;
};

Read read_file(const std::string& path) {
  TraceReader reader;
  Read read;
  read.open_error = reader.open(path);
  TraceEvent event;
  while (read.open_error.empty() && reader.next(&event)) read.events.push_back(event);
  read.error = reader.error();
  read.cut_short = reader.cut_short();
  read.dropped = reader.dropped();
  read.windows = reader.windows();
  read.header = reader.header();
  return read;
}

Read read_bytes(const std::vector<uint8_t>& bytes) {
  const test::MemoryFile file;
  return read_file(file.write(bytes));
}
Read read_bytes(TraceBytes& trace) { return read_bytes(trace.close().bytes); }

TraceBytes small_trace() {
  TraceBytes trace(2, 8);
  trace.block(500).created(7, 1, 4, 2, "rows", 8).select(7);
  trace.sync(TraceSync::lock_all)
      .get(3, 100, 64)
      .get(0, 40, 8, Outcome::full)
      .time(25)
      .scattered(2, 1000, 24, 5, 990, 300);
  trace.write(1, 60, 16, TraceWrite::fetch)
      .sync(TraceSync::flush, 3)
      .cost(64, 2100)
      .owner_write(4096, 8192, 77);
  trace.block(9000).select(7).get(3, 200, 1).sync(TraceSync::acquire).mode(7, 0).freed(7).end(4);
  return trace;
}

TEST(Trace, SaysWhoWroteItAndWhen) {
  TraceBytes trace = small_trace();
  const Read read = read_bytes(trace);
  EXPECT_EQ(read.open_error, "");
  EXPECT_EQ(read.error, "");
  EXPECT_FALSE(read.cut_short);
  EXPECT_EQ(read.header.rank, 2u);
  EXPECT_EQ(read.header.ranks, 8u);
  EXPECT_EQ(read.header.start_ns, 1000000u);
  EXPECT_EQ(read.header.program, "by-hand");
  ASSERT_EQ(read.windows.size(), 1u);
  EXPECT_EQ(read.windows[0].name, "rows");
  EXPECT_EQ(read.windows[0].unit, 8);
  EXPECT_EQ(read.windows[0].rank, 1u);
}

TEST(Trace, PlacesAreRelativeToTheLastGetOrWriteOfTheBlock) {
  TraceBytes trace = small_trace();
  const Read read = read_bytes(trace);
  ASSERT_EQ(read.events.size(), 14u);
  EXPECT_EQ(read.events[2].target, 3u);
  EXPECT_EQ(read.events[2].displacement, 100);
  EXPECT_EQ(read.events[2].to, 164);
  EXPECT_EQ(read.events[3].displacement, 40);
  EXPECT_EQ(read.events[3].detail, static_cast<uint8_t>(Outcome::full));
  EXPECT_EQ(read.events[4].layout, 5u);
  EXPECT_EQ(read.events[4].from, 990);
  EXPECT_EQ(read.events[4].to, 1290);
  EXPECT_EQ(read.events[4].ns, 525u);
  EXPECT_EQ(read.events[5].target, 1u);
  EXPECT_EQ(read.events[5].from, 60);
  EXPECT_EQ(read.events[6].sync_target, 3);
  EXPECT_EQ(read.events[7].value, 2100u);
  EXPECT_EQ(read.events[8].displacement, 4096);
  EXPECT_EQ(read.events[9].displacement, 200);
  EXPECT_EQ(read.events[9].ns, 9000u);
  EXPECT_EQ(read.events[9].window, 0u);
}

TEST(Trace, WindowWhoseCreationWasDroppedIsKnownByItsId) {
  TraceBytes trace;
  trace.block(0, 12).select(31).get(1, 0, 8).end(1, 12);
  const Read read = read_bytes(trace);
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.dropped, 12u);
  ASSERT_EQ(read.windows.size(), 1u);
  EXPECT_EQ(read.windows[0].id, 31u);
  EXPECT_FALSE(read.windows[0].announced);
}

TEST(Trace, WriteOfUnknownExtentReachesToTheEnds) {
  TraceBytes trace;
  trace.block().select(1).write(2, INT64_MIN, UINT64_MAX).get(2, 5, 1).end();
  const Read read = read_bytes(trace);
  EXPECT_EQ(read.error, "");
  ASSERT_EQ(read.events.size(), 3u);
  EXPECT_EQ(read.events[0].from, INT64_MIN);
  EXPECT_EQ(read.events[0].to, INT64_MAX);
  EXPECT_EQ(read.events[1].displacement, 5);
}

TEST(Trace, FileCutAnywhereIsReadToItsLastWholeBlock) {
  TraceBytes trace = small_trace();
  const Read whole = read_bytes(trace);
  for (size_t size = 0; size < trace.bytes.size(); ++size) {
    const Read read = read_bytes(std::vector<uint8_t>(
        trace.bytes.begin(), trace.bytes.begin() + static_cast<ptrdiff_t>(size)));
    if (!read.open_error.empty()) continue;  // inside the header
    EXPECT_EQ(read.error, "") << size;
    EXPECT_TRUE(read.cut_short) << size;
    EXPECT_TRUE(read.events.empty() || read.events.size() == 9) << size;
  }
  EXPECT_FALSE(whole.cut_short);
}

TEST(Trace, WhatIsNoTraceIsRefused) {
  EXPECT_NE(read_file("/nonexistent/trace").open_error.find("No such file"), std::string::npos);
  EXPECT_NE(read_file("/").open_error.find("regular file"), std::string::npos);
  EXPECT_NE(read_bytes({'a', 'b', 'c'}).open_error.find("not a Nearcache trace"),
            std::string::npos);
  TraceBytes newer;
  newer.bytes[8] = 99;
  EXPECT_NE(read_bytes(newer).open_error.find("version 99"), std::string::npos);
  TraceBytes boundless;
  boundless.bytes[32] = boundless.bytes[33] = 0xff;  // the first text
  EXPECT_NE(read_bytes(boundless).open_error.find("longer than the header"), std::string::npos);
}

TEST(Trace, DamageIsToldWithItsPlace) {
  const auto error_of = [](TraceBytes& trace) { return read_bytes(trace).error; };
  TraceBytes no_window;
  EXPECT_NE(error_of(no_window.block().get(1, 0, 8)).find("not a record"), std::string::npos);
  TraceBytes no_outcome;
  EXPECT_NE(
      error_of(no_outcome.block().select(1).head(TraceKind::get, 9).varint(0).varint(0).varint(8))
          .find("not a record"),
      std::string::npos);
  TraceBytes after_end;
  EXPECT_NE(error_of(after_end.block().end().block().time(1)).find("after the end"),
            std::string::npos);
  TraceBytes too_far;
  EXPECT_NE(error_of(too_far.block().select(1).get(1, INT64_MAX, 8)).find("not a record"),
            std::string::npos);
  TraceBytes miscounted;
  miscounted.block().select(1).get(1, 0, 8).close();
  miscounted.bytes[miscounted.bytes.size() - 6 - trace_block_header_bytes + 8] += 1;
  EXPECT_NE(error_of(miscounted).find("fewer records"), std::string::npos);
}

TEST(Trace, DamagedBytesNeverDoMoreThanEndTheReading) {
  TraceBytes sound = small_trace();
  const std::vector<uint8_t> whole = sound.close().bytes;
  const test::MemoryFile file;
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < steps_of(20000); ++round) {
    const std::vector<uint8_t> bytes = test::damaged(whole, random);
    const Read read = read_file(file.write(bytes));
    refused += !read.open_error.empty() || !read.error.empty() || read.cut_short;
    EXPECT_LE(read.events.size(), bytes.size());
  }
  EXPECT_GT(refused, steps_of(1000));
}

// Random gets and synchronisation, written by the library's own writer: what was recorded is read
// back, in order.
TEST(Trace, WhatTheLibraryWritesIsRead) {
  const TemporaryFolder folder;
  TraceWriter writer;
  TraceOrigin origin;
  origin.rank = 3;
  origin.ranks = 5;
  origin.host = "node7";
  ASSERT_EQ(writer.open(folder.file("t"), origin), "");
  TracedWindow window;
  window.id = 4;
  window.rank = 3;
  window.ranks = 5;
  window.mode = static_cast<uint8_t>(1);
  window.name = "forces";
  writer.window_created(window);
  std::mt19937_64 random(11);
  struct Get {
    uint32_t target;
    int64_t displacement;
    uint64_t bytes;
  };
  std::vector<Get> gets;
  for (int i = 0; i < 30000; ++i) {
    const Get get{static_cast<uint32_t>(random() % 5),
                  static_cast<int64_t>(random() % (uint64_t{1} << (1 + random() % 40))),
                  random() % 5000};
    gets.push_back(get);
    writer.get(random() % 3 == 0 ? 4u : 9u, Outcome::direct, get.target, get.displacement,
               get.bytes);
    if (random() % 8 == 0) writer.sync(4, TraceSync::flush, static_cast<int>(get.target));
  }
  ASSERT_EQ(writer.close(), "");
  const Read read = read_file(folder.file("t"));
  EXPECT_EQ(read.open_error + read.error, "");
  EXPECT_FALSE(read.cut_short);
  EXPECT_EQ(read.header.host, "node7");
  EXPECT_EQ(read.windows.size(), 2u);
  ASSERT_EQ(read.dropped, 0u);
  size_t at = 0;
  for (const TraceEvent& event : read.events) {
    if (event.kind != TraceKind::get) continue;
    ASSERT_LT(at, gets.size());
    ASSERT_EQ(event.target, gets[at].target);
    ASSERT_EQ(event.displacement, gets[at].displacement);
    ASSERT_EQ(event.bytes, gets[at].bytes);
    ++at;
  }
  EXPECT_EQ(at, gets.size());
}

}  // namespace TEST_FILE
}  // namespace nearcache
