// The writer of traces: what it writes can be read, and a slow disk costs records, never time.
#include "telemetry/trace_writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "simulate/trace_reader.h"

namespace nearcache {
namespace TEST_FILE {

using simulate::TraceEvent;
using simulate::TraceReader;

class TraceWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "nearcache-trace-XXXXXX";
    folder = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/t"; }

  std::vector<TraceEvent> read(bool* whole = nullptr) {
    TraceReader reader;
    EXPECT_EQ(reader.open(path()), "");
    std::vector<TraceEvent> events;
    for (TraceEvent event; reader.next(&event);) events.push_back(event);
    EXPECT_EQ(reader.error(), "");
    if (whole != nullptr) *whole = !reader.cut_short();
    dropped_as_read = reader.dropped();
    return events;
  }

  // Also while the file is being written.
  uint64_t gets_in_file() const {
    TraceReader reader;
    uint64_t gets = 0;
    if (!reader.open(path()).empty()) return 0;
    for (TraceEvent event; reader.next(&event);) gets += event.kind == TraceKind::get ? 1 : 0;
    return gets;
  }
  // A test that waits half a minute has failed.
  void wait_for_gets(uint64_t gets) const {
    for (int looks = 0; looks < 3000 && gets_in_file() < gets; ++looks) usleep(10000);
  }

  std::string folder;
  uint64_t dropped_as_read = 0;
};

// The child has neither the thread nor the right to write to the file.
TEST_F(TraceWriterTest, AForkedChildEndsWithoutWaitingForTheThreadOrWriting) {
  auto writer = std::make_unique<TraceWriter>();
  ASSERT_EQ(writer->open(path(), TraceOrigin()), "");
  writer->get(1, Outcome::full, 1, 0, 8);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    writer.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  writer->get(1, Outcome::full, 1, 8, 8);
  EXPECT_EQ(writer->close(), "");
  bool whole = false;
  const std::vector<TraceEvent> events = read(&whole);
  EXPECT_TRUE(whole);
  EXPECT_EQ(std::ranges::count_if(
                events, [](const TraceEvent& event) { return event.kind == TraceKind::get; }),
            2);
}

TEST(Varint, IsReadAsItWasWrittenInAsFewBytesAsItNeeds) {
  for (int bits = 0; bits <= 64; ++bits) {
    const uint64_t lowest = bits == 0 ? 0 : uint64_t{1} << (bits - 1);
    const uint64_t highest = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    for (const uint64_t value : {lowest, lowest | 0x5a5a5a5a5a5a5a5a % (lowest | 1), highest}) {
      uint8_t bytes[10];
      const uint8_t* const end = put_varint(bytes, value);
      EXPECT_EQ(end - bytes, bits == 0 ? 1 : (bits + 6) / 7) << value;
      const uint8_t* at = bytes;
      uint64_t read = ~value;
      EXPECT_TRUE(get_varint(&at, end, &read));
      EXPECT_EQ(read, value);
      EXPECT_EQ(at, end);
    }
  }
}

TEST_F(TraceWriterTest, every_kind_of_record_comes_back) {
  TraceWriter writer;
  ASSERT_EQ(writer.open(path(), {3, 8, "node", "program", "an MPI", "L=1"}), "");
  TracedWindow window;
  window.id = 7;
  window.rank = 2;
  window.ranks = 4;
  window.own_bytes = uint64_t{5} << 32;
  window.unit = 8;
  window.mode = 2;
  window.name = std::string(200, 'n');  // cut to what fits
  writer.window_created(window);
  writer.get(7, Outcome::direct, 3, int64_t{1} << 40, 4096);
  writer.get(7, Outcome::pending, 1, -64, 24, 9, -128, 256);
  writer.sync(7, TraceSync::flush, 3);
  writer.sync(7, TraceSync::fence, -1);
  writer.write(7, TraceWrite::fetch, 1, 16, 8);
  writer.write(7, TraceWrite::put, 1, INT64_MIN, UINT64_MAX);  // nobody knows of which bytes
  writer.owner_write(7, 4096, 8192, 1000);
  writer.cost(100, 5000);
  writer.acquire();
  writer.acquire();
  writer.window_mode(7, 3);
  writer.window_freed(7);
  EXPECT_EQ(writer.close(), "");
  bool whole = false;
  const auto events = read(&whole);
  EXPECT_TRUE(whole);
  ASSERT_EQ(events.size(), 13u);
  EXPECT_EQ(events[1].target, 3u);
  EXPECT_EQ(events[1].displacement, int64_t{1} << 40);
  EXPECT_EQ(events[1].to, (int64_t{1} << 40) + 4096);
  EXPECT_EQ(events[2].layout, 9u);
  EXPECT_EQ(events[2].from, -128);
  EXPECT_EQ(events[2].to, 128);
  EXPECT_EQ(events[3].sync_target, 3);
  EXPECT_EQ(events[4].sync_target, -1);
  EXPECT_EQ(events[5].detail, static_cast<uint8_t>(TraceWrite::fetch));
  EXPECT_EQ(events[6].from, INT64_MIN);
  EXPECT_EQ(events[6].to, INT64_MAX);
  EXPECT_EQ(events[7].bytes, 8192u);
  EXPECT_EQ(events[7].value, 1000u);
  EXPECT_EQ(events[8].kind, TraceKind::cost);
  EXPECT_EQ(events[9].kind, TraceKind::sync) << "the second of two acquires says nothing new";
  EXPECT_EQ(events[10].kind, TraceKind::window);
}

// One get in 32 contains the time since the last one that did.
TEST_F(TraceWriterTest, times_of_records_are_those_of_the_run) {
  const uint64_t begin = system_ns();
  TraceWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  for (int i = 0; i < 32 * 10; ++i) {
    writer.get(1, Outcome::full, 1, 0, 8);
    if (i % 32 == 0) usleep(2000);
  }
  EXPECT_EQ(writer.close(), "");
  const uint64_t elapsed = system_ns() - begin;
  uint64_t last = 0;
  for (const TraceEvent& event : read()) {
    EXPECT_GE(event.ns, last);
    last = event.ns;
  }
  EXPECT_GE(last, 9 * uint64_t{2000000});
  EXPECT_LE(last, elapsed);
}

TEST_F(TraceWriterTest, many_blocks_are_one_trace) {
  TraceWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  constexpr uint64_t gets = 400000;
  for (uint64_t i = 0; i < gets; ++i) {
    writer.get(i % 2, Outcome::full, static_cast<uint32_t>(i % 5),
               static_cast<int64_t>(i * 64 % 100000), 64);
    // However busy the machine is, no more is recorded than the blocks can hold until the thread
    // has written: at most a block that is not full is missing from the file.
    if (i % 50000 == 0) wait_for_gets(i - std::min(i, TraceWriter::block_bytes / 4));
  }
  EXPECT_EQ(writer.close(), "");
  uint64_t seen = 0;
  for (const TraceEvent& event : read()) {
    if (event.kind != TraceKind::get) continue;
    const uint64_t i = seen++;
    ASSERT_EQ(event.target, i % 5);
    ASSERT_EQ(event.displacement, static_cast<int64_t>(i * 64 % 100000));
  }
  EXPECT_EQ(seen, gets);
  EXPECT_EQ(writer.dropped(), 0u);
  EXPECT_LE(std::filesystem::file_size(path()), gets * 10);
}

// As if the run were killed: nothing closes the trace before it is read.
TEST_F(TraceWriterTest, a_run_that_is_killed_leaves_what_it_recorded) {
  TraceWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  TracedWindow window;
  window.id = 7;
  writer.window_created(window);
  int64_t recorded = 0;
  bool whole = true;
  for (const int64_t until : {3, 70, 90000}) {  // the last of them in another block than the first
    for (; recorded < until; ++recorded) writer.get(7, Outcome::direct, 1, recorded * 1000, 64);
    wait_for_gets(static_cast<uint64_t>(recorded));
    int64_t seen = 0;
    for (const TraceEvent& event : read(&whole))
      seen += event.kind == TraceKind::get && event.displacement == seen * 1000 ? 1 : 0;
    ASSERT_EQ(seen, recorded);
    EXPECT_FALSE(whole);
  }
  EXPECT_EQ(writer.close(), "");
  EXPECT_EQ(read(&whole).size(), static_cast<size_t>(recorded) + 2) << "nothing is there twice";
  EXPECT_TRUE(whole);
}

// A pipe that nobody reads is the slowest disk of all: it takes 64 KiB and then blocks.
TEST_F(TraceWriterTest, a_disk_that_stands_still_costs_records_and_they_are_counted) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  const int reader = open(path().c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  TraceWriter writer;
  ASSERT_EQ(writer.open(path(), {}), "");
  constexpr uint64_t gets = 1000000;  // twice what all blocks hold
  for (uint64_t i = 0; i < gets; ++i)
    writer.get(0, Outcome::full, 1, static_cast<int64_t>(i * 1000), 64);
  EXPECT_GT(writer.dropped(), 0u) << "nothing was read, and yet the program got here";
  std::string got;
  std::thread drain([&] {
    fcntl(reader, F_SETFL, 0);
    char buffer[65536];
    for (ssize_t n; (n = ::read(reader, buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<size_t>(n));
  });
  EXPECT_EQ(writer.close(), "");
  drain.join();
  close(reader);
  std::filesystem::remove(path());
  FILE* file = fopen(path().c_str(), "w");
  ASSERT_NE(file, nullptr);
  fwrite(got.data(), 1, got.size(), file);
  fclose(file);
  uint64_t seen = 0;
  bool whole = false;
  for (const TraceEvent& event : read(&whole)) seen += event.kind == TraceKind::get ? 1 : 0;
  EXPECT_TRUE(whole);
  EXPECT_EQ(dropped_as_read, writer.dropped());
  EXPECT_LT(seen, gets);
  EXPECT_GE(seen + writer.dropped(), gets);  // other records are dropped, too
}

TEST_F(TraceWriterTest, a_file_that_cannot_be_made_is_said_so) {
  TraceWriter writer;
  EXPECT_NE(writer.open(folder + "/none/t", {}), "");
  EXPECT_FALSE(writer.is_open());
  EXPECT_EQ(writer.close(), "");
}

}  // namespace TEST_FILE
}  // namespace nearcache
