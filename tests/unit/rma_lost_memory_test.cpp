// Operations on memory that the program has unmapped or protected: an error of the operation at its
// origin's next flush; all other operations are done.
#include "rma_job.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "without_calls.h"

namespace nearcache::rma {
namespace TEST_FILE {

using test::Job;

constexpr size_t page_words = 512;

// Takes a page away. Its addresses stay reserved: in a gap others may map memory (the sanitizer of
// clang 19 does), which would then be written.
void lose(uint64_t* page) { EXPECT_EQ(mprotect(page, page_words * 8, PROT_NONE), 0); }

// A window of rank 1 on four pages; the second is lost, and the third is read-only.
class LostMemory : public testing::Test {
 protected:
  LostMemory() { begin(Memory::brought(words, bytes, 8)); }
  ~LostMemory() override { munmap(words, bytes); }

  static constexpr size_t bytes = 4 * page_words * 8;
  static constexpr uint64_t id = 7;
  uint64_t* words = static_cast<uint64_t*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Job job{2, 4};
  Window* origin = nullptr;
  Window* target = nullptr;

  void begin(Memory memory) {
    words[2 * page_words] = 77;
    lose(words + page_words);
    EXPECT_EQ(mprotect(words + 2 * page_words, page_words * 8, PROT_READ), 0);
    origin = job.engines[0]->open(id, Members(2), Memory::brought(nullptr, 0, 1));
    target = job.engines[1]->open(id, Members(2), std::move(memory));
  }
  void issue(Transfer transfer) {
    transfer.target = 1;
    EXPECT_TRUE(origin->issue(&transfer));
  }
  void put(int64_t at, const uint64_t& value) {
    if (origin->put_few(1, at, &value, 8)) return;
    issue({.kind = Kind::put, .displacement = at, .length = 8, .data = Job::bytes(value)});
  }
  void get(int64_t at, uint64_t* value) {
    issue({.kind = Kind::get,
           .displacement = at,
           .length = 8,
           .result = reinterpret_cast<std::byte*>(value)});
  }
  Status flush() {
    const Mark mark = origin->flush(1);
    EXPECT_TRUE(job.run([&] { return origin->reached(1, mark); }));
    return origin->take_error(1);
  }
};

TEST_F(LostMemory, IsAnErrorOfEveryOperationAtTheNextFlush) {
  std::vector<uint64_t> data(2 * page_words, 1), back(2 * page_words, 9);
  for (const Kind kind :
       {Kind::put, Kind::get, Kind::accumulate, Kind::fetch, Kind::compare_and_swap}) {
    const auto at = [&](int64_t where, uint64_t length = 8) {
      issue({.kind = kind,
             .displacement = where,
             .length = length,
             .data = Job::bytes(data[0]),
             .result = reinterpret_cast<std::byte*>(back.data()),
             .element = Element::uint64,
             .operation = Operation::sum});
      return flush();
    };
    EXPECT_EQ(at(page_words - 1), Status::ok);
    EXPECT_EQ(at(page_words), Status::out_of_range);
    EXPECT_EQ(at(page_words - 1, 16), Status::out_of_range);
    EXPECT_EQ(at(3 * page_words), Status::ok);
    EXPECT_EQ(at(2 * page_words) == Status::ok,
              kind == Kind::get || kind == Kind::compare_and_swap);  // which finds another value
    EXPECT_EQ(at(4 * page_words), Status::out_of_range);
  }
  EXPECT_EQ(words[2 * page_words], 77u);
}

TEST_F(LostMemory, OfSeveralRunsOrByALayoutIsAnErrorToo) {
  std::vector<uint64_t> data(20, 5);
  std::vector<Piece> pieces{{0, 8}, {page_words * 8, 8}, {16, 8}};
  for (const Kind kind : {Kind::put, Kind::get, Kind::accumulate}) {
    Transfer transfer{.kind = kind,
                      .length = 24,
                      .pieces = pieces,
                      .data = Job::bytes(data[0]),
                      .result = reinterpret_cast<std::byte*>(data.data()),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    issue(transfer);
    EXPECT_EQ(flush(), Status::out_of_range);
    transfer.displacement = 3 * page_words;
    transfer.pieces = {};
    transfer.length = 160;
    transfer.layout = {3,
                       16,
                       32,
                       2,
                       nullptr,
                       [](const void*, uint64_t which) {
                         return Piece{static_cast<int64_t>(which) * 8, 8}; }};
    issue(transfer);
    EXPECT_EQ(flush(), Status::ok);
    transfer.displacement = page_words - 8;
    issue(transfer);
    EXPECT_EQ(flush(), Status::out_of_range);
  }
  EXPECT_EQ(words[3 * page_words], 10u);
}

// It is there when the operation comes, which then waits for another rank's accumulate.
TEST_F(LostMemory, IsAnErrorThoughItWentWhileAnOperationWaited) {
  Mutex& elements = target->commons().elements;
  ASSERT_TRUE(elements.try_lock(static_cast<uint32_t>(getpid())));
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    lose(words + 3 * page_words);
    elements.unlock();
  });
  const uint64_t one = 1;
  issue({.kind = Kind::accumulate,
         .displacement = 3 * page_words,
         .length = 8,
         .data = Job::bytes(one),
         .element = Element::uint64,
         .operation = Operation::sum});
  EXPECT_EQ(flush(), Status::out_of_range);
  other.join();
}

// Many at a time use one system call, and each gets its own result.
TEST_F(LostMemory, LeavesAllOtherOperationsAsTheyAre) {
  std::mt19937_64 random(3);
  std::vector<uint64_t> expected(4 * page_words), got(3000), should(3000);
  const auto writable = [](size_t at) { return at / page_words == 0 || at / page_words == 3; };
  for (int round = 0; round < 20; ++round) {
    bool bad = false;
    size_t next = random() % (4 * page_words);
    for (size_t i = 0; i < got.size(); ++i) {
      next = random() % 4 == 0 ? random() % (4 * page_words) : (next + 1) % (4 * page_words);
      got[i] = should[i] = 0;
      if (random() % 64 < 40) {
        const uint64_t value = random();
        put(static_cast<int64_t>(next), value);
        if (writable(next)) expected[next] = value;
        bad = bad || !writable(next);
      } else if (random() % 16 != 0) {
        get(static_cast<int64_t>(next), &got[i]);
        should[i] = next / page_words == 1 ? 0 : next == 2 * page_words ? 77 : expected[next];
        bad = bad || next / page_words == 1;
      } else if (writable(next)) {
        const uint64_t one = 1;
        issue({.kind = Kind::accumulate,
               .displacement = static_cast<int64_t>(next),
               .length = 8,
               .data = Job::bytes(one),
               .element = Element::uint64,
               .operation = Operation::sum});
        ++expected[next];
      }
    }
    EXPECT_EQ(flush(), bad ? Status::out_of_range : Status::ok);
    EXPECT_EQ(got, should);
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(writable(i) ? words[i] : expected[i], expected[i]) << i;
  }
}

// They go directly to their destination, without a check in between.
TEST(LostMemoryOfManyBytes, IsAnErrorOfTheOperationAndOfNoOther) {
  constexpr size_t pages = 64, hole = 40, bytes = pages * page_words * 8;
  auto* const words = static_cast<uint64_t*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Job job(2, 9);
  Window* const origin = job.engines[0]->open(7, Members(2), Memory::brought(nullptr, 0, 1));
  job.engines[1]->open(7, Members(2), Memory::brought(words, bytes, 8));
  lose(words + hole * page_words);
  std::vector<uint64_t> expected(pages * page_words);
  const auto there = [&](size_t at) { return at / page_words != hole; };
  std::mt19937_64 random(1);
  size_t bad = 0;
  for (uint64_t round = 0; round < 300; ++round) {
    const size_t at = random() % expected.size();
    const size_t count = std::min(1024 + random() % 9000, expected.size() - at);
    const bool puts = random() % 2 == 0;
    std::vector<uint64_t> data(count);
    for (uint64_t& word : data) word = random();
    const uint64_t first = data[0];
    if (!puts && there(at))
      EXPECT_TRUE(origin->put_few(1, static_cast<int64_t>(at), &first, 8) || round == 0);
    Transfer transfer{.kind = puts ? Kind::put : Kind::get,
                      .target = 1,
                      .displacement = static_cast<int64_t>(at),
                      .length = count * 8,
                      .data = Job::bytes(data[0]),
                      .result = reinterpret_cast<std::byte*>(data.data())};
    EXPECT_TRUE(origin->issue(&transfer));
    const Mark mark = origin->flush(1);
    EXPECT_TRUE(job.run([&] { return origin->reached(1, mark); }));
    const bool sound = at / page_words > hole || (at + count - 1) / page_words < hole;
    EXPECT_EQ(origin->take_error(1), sound ? Status::ok : Status::out_of_range);
    bad += !sound;
    if (!puts && there(at)) expected[at] = words[at];
    if (puts && sound) std::ranges::copy(data, expected.begin() + static_cast<std::ptrdiff_t>(at));
    for (size_t i = at; i < at + count; ++i) {
      if (puts && !sound && there(i)) expected[i] = words[i];  // as far as it got
      if (sound) ASSERT_EQ(puts ? words[i] : data[i - at], expected[i]);
    }
    for (size_t i = 0; i < expected.size(); ++i)
      if (there(i)) ASSERT_EQ(words[i], expected[i]) << i;
  }
  EXPECT_GT(bad, 20u);
  EXPECT_LT(bad, 280u);
  munmap(words, bytes);
}

// Operations of which one message carries more than the kernel is asked to copy at a time. Lengths
// that are not whole words are divided.
TEST(LostMemoryOfLongRuns, IsAnErrorInAnyPartOfThem) {
  constexpr size_t page = page_words * 8, bytes = 512 * page, hole = 300 * page;
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Job job(2, 5);
  Window* const origin = job.engines[0]->open(7, Members(2), Memory::brought(nullptr, 0, 1));
  job.engines[1]->open(7, Members(2), Memory::brought(memory, bytes, 1));
  lose(reinterpret_cast<uint64_t*>(memory + hole));
  std::mt19937_64 random(2);
  std::vector<std::byte> data(bytes), before(bytes);
  std::array<size_t, 2> bad{}, good{};
  for (int round = 0; round < 60; ++round) {
    const bool puts = round % 2 == 0;
    const size_t length = (random() % 4 + 1) * 250000 + random() % 9;
    const size_t at = random() % (bytes - length);
    std::ranges::generate(data, [value = random()]() mutable {
      return static_cast<std::byte>((value = value * 3 + 1) >> 8);
    });
    Transfer transfer{.kind = puts ? Kind::put : Kind::get,
                      .target = 1,
                      .displacement = static_cast<int64_t>(at),
                      .length = length,
                      .data = data.data(),
                      .result = data.data()};
    EXPECT_TRUE(origin->issue(&transfer));
    const Mark mark = origin->flush(1);
    EXPECT_TRUE(job.run([&] { return origin->reached(1, mark); }));
    const bool sound = at >= hole + page || at + length <= hole;
    ASSERT_EQ(origin->take_error(1), sound ? Status::ok : Status::out_of_range);
    ++(sound ? good : bad)[puts];
    if (sound) ASSERT_EQ(std::memcmp(memory + at, data.data(), length), 0);
    const auto outside = [&](size_t from, size_t to) {
      return from >= to || std::memcmp(memory + from, before.data() + from, to - from) == 0;
    };
    const size_t end = puts ? at + length : at;
    EXPECT_TRUE(outside(0, std::min(at, hole)));
    EXPECT_TRUE(outside(hole + page, at));
    EXPECT_TRUE(outside(end, hole));
    EXPECT_TRUE(outside(std::max(end, hole + page), bytes));
    std::memcpy(before.data(), memory, hole);
    std::memcpy(before.data() + hole + page, memory + hole + page, bytes - hole - page);
  }
  EXPECT_GT(std::min({bad[0], bad[1], good[0], good[1]}), 3u);
  munmap(memory, bytes);
}

TEST(BodiesOfMessages, GoOnlyWhereTheyMayAtThatTime) {
  Job job(3, 1, 4096);
  constexpr uint64_t length = 8 << 10, whole = sizeof(Head) + length;
  Engine &origin = *job.engines[0], &target = *job.engines[1];
  const auto body = [](Engine& engine, int from, const Head& head, size_t batch) {
    return engine.body(from, std::as_bytes(std::span(&head, 1)), batch).bytes;
  };
  const Head put{.kind = Kind::put, .window = Job::window_id, .displacement = 8, .length = length};
  EXPECT_EQ(target.body(0, std::as_bytes(std::span(&put, 1)), whole).memory,
            reinterpret_cast<std::byte*>(&job.word(1, 8)));
  EXPECT_EQ(body(target, 0, put, whole + 8), 0u);
  for (const auto spoil :
       {+[](Head* head) { head->displacement = 4096 - 1023; },
        +[](Head* head) { head->displacement = -1; },
        +[](Head* head) { head->offset = UINT64_MAX - 7; }, +[](Head* head) { head->window = 1; },
        +[](Head* head) { head->has_pieces(1); }, +[](Head* head) { head->by_layout = 1; },
        +[](Head* head) { head->kind = Kind::accumulate; },
        +[](Head* head) { head->kind = static_cast<Kind>(200); },
        +[](Head* head) { head->odd_epoch = 1; }}) {
    Head other = put;
    spoil(&other);
    const bool ahead = other.odd_epoch == 1;
    if (ahead) job.window(1).fence_enter();
    EXPECT_EQ(body(target, 0, other, whole), 0u);
  }
  // Unmapped by the time it arrives.
  std::vector<uint64_t> to(length / 8);
  EXPECT_TRUE(job.issue(0, {.kind = Kind::get,
                            .target = 1,
                            .length = length,
                            .result = reinterpret_cast<std::byte*>(to.data())}));
  EXPECT_EQ(origin.expected_body(1).memory, reinterpret_cast<std::byte*>(to.data()));
  EXPECT_EQ(origin.expected_body(2).bytes, 0u);
  const Head data{
      .kind = Kind::data, .window = Job::window_id, .length = length, .token = uint64_t{1} << 32};
  EXPECT_EQ(body(origin, 1, data, whole), length);
  EXPECT_EQ(body(origin, 2, data, whole), 0u);
  Head shorter = data;
  shorter.length -= 8;
  EXPECT_EQ(body(origin, 1, shorter, whole - 8), 0u);
  origin.close(job.windows[0]);
  EXPECT_EQ(origin.expected_body(1).bytes, 0u);
  EXPECT_EQ(body(origin, 1, data, whole), 0u);
  origin.received_apart(1, std::as_bytes(std::span(&data, 1)), {}, false);
  EXPECT_FALSE(origin.is_lost(1));
  target.close(job.windows[1]);
  target.received_apart(0, std::as_bytes(std::span(&put, 1)), {}, false);
  EXPECT_FALSE(target.is_lost(0));
}

// Their completion tells that what was sent before is done.
TEST_F(LostMemory, IsNoReasonToWaitForAFence) {
  for (int round = 0; round < 3; ++round) {
    const uint64_t one = 1;
    put(page_words, one);
    put(0, one + static_cast<uint64_t>(round));
    put(page_words + 1, one);
    for (Window* each : {origin, target}) each->fence_enter();
    EXPECT_TRUE(job.run([&] { return origin->fence_met() && target->fence_met(); }));
    EXPECT_EQ(words[0], 1u + static_cast<uint64_t>(round));
  }
  EXPECT_EQ(flush(), Status::out_of_range);
}

// Operations held while another rank has the lock, and operations of a rank on itself.
TEST_F(LostMemory, BehindALockIsAnErrorWhenItIsGranted) {
  target->lock(1, LockType::exclusive, false);
  EXPECT_EQ(target->lock_now(1), 0u);
  origin->lock(1, LockType::exclusive, false);
  const uint64_t one = 1;
  uint64_t got = 5;
  put(0, one);
  put(page_words, one);
  get(0, &got);
  const Mark mark = origin->unlock(1);
  EXPECT_FALSE(job.run([&] { return origin->reached(1, mark); }));
  target->unlock(1);
  EXPECT_TRUE(job.run([&] { return origin->reached(1, mark); }));
  EXPECT_EQ(origin->take_error(1), Status::out_of_range);
  EXPECT_EQ(got, 1u);
}

TEST(LostDynamicMemory, WasNeverThereOrIsNotAnyMore) {
  Job job(2, 5);
  auto* const words = static_cast<uint64_t*>(mmap(
      nullptr, 2 * page_words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  Window* const origin = job.engines[0]->open(7, Members(2), Memory::dynamic());
  Window* const target = job.engines[1]->open(7, Members(2), Memory::dynamic());
  ASSERT_TRUE(target->exposure().memory().attach(words, 2 * page_words * 8));
  ASSERT_TRUE(target->exposure().memory().attach(reinterpret_cast<void*>(uintptr_t{64}), 4000));
  munmap(words + page_words, page_words * 8);
  const auto fetch = [&](uint64_t at) {
    const uint64_t one = 1;
    uint64_t old = 0;
    Transfer transfer{.kind = Kind::fetch,
                      .target = 1,
                      .displacement = static_cast<int64_t>(at),
                      .length = 8,
                      .data = Job::bytes(one),
                      .result = reinterpret_cast<std::byte*>(&old),
                      .element = Element::uint64,
                      .operation = Operation::sum};
    EXPECT_TRUE(origin->issue(&transfer));
    const Mark mark = origin->flush(1);
    EXPECT_TRUE(job.run([&] { return origin->reached(1, mark); }));
    return origin->take_error(1);
  };
  EXPECT_EQ(fetch(reinterpret_cast<uint64_t>(words)), Status::ok);
  EXPECT_EQ(fetch(reinterpret_cast<uint64_t>(words + page_words)), Status::out_of_range);
  EXPECT_EQ(fetch(64), Status::out_of_range);
  EXPECT_EQ(words[0], 1u);
  munmap(words, page_words * 8);
}

bool serves(Kind writes) {
  Job job(2, 6);
  std::vector<uint64_t> words(8);
  Window* const origin = job.engines[0]->open(7, Members(2), Memory::brought(nullptr, 0, 1));
  job.engines[1]->open(7, Members(2), Memory::brought(words.data(), 64, 8));
  const uint64_t values[] = {5, 6, 7};
  uint64_t got[3] = {};
  for (uint64_t round = 1; round <= 2; ++round) {
    for (const Kind kind : {writes, Kind::get}) {
      for (size_t i = 0; i < 3; ++i) {
        Transfer transfer{.kind = kind,
                          .target = 1,
                          .displacement = static_cast<int64_t>(2 * i),
                          .length = 8,
                          .data = Job::bytes(values[i]),
                          .result = reinterpret_cast<std::byte*>(&got[i]),
                          .element = Element::uint64,
                          .operation = Operation::sum};
        origin->issue(&transfer);
      }
    }
    const Mark mark = origin->flush(1);
    if (!job.run([&] { return origin->reached(1, mark); })) return false;
    for (size_t i = 0; i < 3; ++i) {
      if (got[i] != (writes == Kind::put ? 1 : round) * values[i] || words[2 * i] != got[i])
        return false;
    }
  }
  return origin->take_error(1) == Status::ok;
}

void expect_served(std::initializer_list<int> refused) {
  using nearcache::test::without_calls;
  EXPECT_TRUE(without_calls(refused, [] { return serves(Kind::put); }));
  EXPECT_TRUE(without_calls(refused, [] { return serves(Kind::accumulate); }));
}

// Refused because of a limit, or in a container.
TEST(BroughtMemory, IsServedAllTheSameWhereTheKernelRefusesToCopy) {
  expect_served({SYS_fallocate});
  expect_served({SYS_preadv, SYS_pwritev, SYS_pread64, SYS_pwrite64});
}

}  // namespace TEST_FILE
}  // namespace nearcache::rma
