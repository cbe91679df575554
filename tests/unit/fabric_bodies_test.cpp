// Bodies of batches that sockets read directly to where the receiver wants them, and data sent from
// memory that may not be accessible.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "net/socket_fabric.h"

namespace nearcache::net {
namespace TEST_FILE {

constexpr size_t least_body = 8 << 10, head_bytes = Receiver::head_bytes;

struct Batch {
  uint64_t number, body;
  std::vector<std::byte> bytes;
};

// The head contains the batch's number and the length of its body, followed by up to 100 bytes.
Batch batch_of(uint64_t number, uint64_t body) {
  Batch batch{number, body, {}};
  batch.bytes.resize(head_bytes + body + number * 7 % 100);
  for (size_t i = 0; i < batch.bytes.size(); ++i)
    batch.bytes[i] = static_cast<std::byte>(number * 31 + i + i / 251);
  std::memcpy(batch.bytes.data(), &number, sizeof number);
  std::memcpy(batch.bytes.data() + sizeof number, &body, sizeof body);
  return batch;
}

// Expects batches in order, and the bodies of large ones separately.
struct Listener final : Receiver {
  std::mt19937 random{4};
  uint64_t came = 0, apart = 0, places = 0;
  uint64_t whole = 0;  // large batches that came with their body
  std::vector<std::byte> memory = std::vector<std::byte>(1 << 20), other = memory;
  std::byte* wanted = memory.data();
  uint64_t loses_after = UINT64_MAX;  // queries until the memory is no longer wanted
  bool guesses = true, in_place = true;
  std::string gone;

  void received(int, std::span<const std::byte> bytes) override {
    whole += body_of(came) >= 2 * least_body;
    check(bytes);
  }
  void lost(int, const std::string& why) override { gone = why; }
  Place body(int, std::span<const std::byte> head, size_t batch) override {
    uint64_t number, body;
    std::memcpy(&number, head.data(), sizeof number);
    std::memcpy(&body, head.data() + sizeof number, sizeof body);
    EXPECT_EQ(number, came);
    EXPECT_EQ(batch, batch_of(number, body).bytes.size());
    if (body < least_body) return {};
    return {places++ < loses_after ? wanted : nullptr, body};
  }
  Place expected_body(int) override {
    if (!guesses) return {};
    const size_t wrong = 1 + random() % 100000;
    switch (random() % 4) {
      case 0:
        return {};
      case 1:
        return {other.data(), wrong};
      case 2:
        return {wanted, wrong};
      default:
        return {wanted, body_of(came)};
    }
  }
  void received_apart(int, std::span<const std::byte> head, std::span<const std::byte> end,
                      bool there) override {
    ++apart;
    in_place = there;
    const size_t body = body_of(came);
    std::vector<std::byte> all(head.begin(), head.end());
    if (there)
      all.insert(all.end(), wanted, wanted + body);
    else
      all.resize(head.size() + body);
    all.insert(all.end(), end.begin(), end.end());
    if (!there) std::copy_n(batch_of(came, body).bytes.data() + head_bytes, body, &all[head_bytes]);
    check(all);
    if (there) std::ranges::fill(memory, std::byte{0});
  }
  void check(std::span<const std::byte> bytes) {
    EXPECT_TRUE(std::ranges::equal(bytes, batch_of(came, body_of(came)).bytes)) << came;
    ++came;
  }
  static uint64_t body_of(uint64_t number) {
    return number % 3 == 1 ? number % 50 : 8 * (number * 12343 % 12000 + least_body / 8);
  }
};

class Bodies : public testing::Test {
 protected:
  Bodies() {
    std::vector<SocketAddress> addresses;
    for (int rank = 0; rank < 2; ++rank) {
      std::string wrong;
      fabrics.push_back(SocketFabric::open(rank, "lo", &wrong));
      EXPECT_EQ(wrong, "");
      addresses.push_back(fabrics.back()->address());
    }
    for (const auto& each : fabrics) each->know({1, 2}, addresses);
  }
  void send_next() {
    const Batch batch = batch_of(sent, Listener::body_of(sent));
    fabrics[0]->send(1, batch.bytes);
    ++sent;
  }
  template <class Done>
  bool run(Done done) {
    for (int idle = 0; idle < 20000 && !done(); ++idle) {
      if (fabrics[0]->poll(sender)) idle = 0;
      if (fabrics[1]->poll(listener)) idle = 0;
      if (idle > 100) usleep(50);
    }
    return done();
  }
  bool all_came() {
    return run([&] { return listener.came == sent; });
  }
  // Sends and receives until `done`, or until a long time has passed.
  template <class Done>
  bool go_on(Done done) {
    for (int round = 0; round < 50 && !done(); ++round) {
      for (int i = 0; i < 20; ++i) send_next();
      EXPECT_TRUE(all_came());
    }
    return done();
  }

  std::vector<std::unique_ptr<SocketFabric>> fabrics;
  Listener sender, listener;
  uint64_t sent = 0;
};

TEST_F(Bodies, AreInTheirPlaceWhateverWasExpected) {
  std::mt19937 random(8);
  while (sent < 600) {
    send_next();
    if (random() % 3 == 0) fabrics[1]->poll(listener);
    if (random() % 20 == 0) EXPECT_TRUE(all_came());
  }
  EXPECT_TRUE(all_came());
  EXPECT_GT(listener.apart, sent / 10);
  EXPECT_EQ(listener.gone, "");
}

// After small batches and after large ones.
TEST_F(Bodies, AreReadApartThoughNobodyExpectsThem) {
  listener.guesses = false;
  send_next();
  EXPECT_TRUE(all_came());
  listener.whole = 0;
  std::mt19937 random(9);
  while (sent < 400) {
    send_next();
    if (random() % 3 == 0) EXPECT_TRUE(all_came());
  }
  EXPECT_TRUE(all_came());
  EXPECT_EQ(listener.whole, 0u);
  EXPECT_GT(listener.apart, sent / 3);
}

TEST_F(Bodies, ThatNobodyWantsAnyMoreAreThrownAway) {
  listener.loses_after = 10;
  EXPECT_TRUE(go_on([&] { return !listener.in_place; }));
  listener.loses_after = UINT64_MAX;
  EXPECT_TRUE(go_on([&] { return listener.in_place; }));
  EXPECT_EQ(listener.gone, "");
}

TEST_F(Bodies, OfWhichTheMemoryIsNotThereDisturbNothing) {
  constexpr size_t size = 1 << 20;
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  listener.wanted = pages;
  for (const size_t missing : {size_t{0}, size_t{4096}}) {
    EXPECT_EQ(mprotect(pages + missing, size - missing, PROT_NONE), 0);
    listener.guesses = false;
    EXPECT_TRUE(go_on([&] { return !listener.in_place; }));
    EXPECT_EQ(mprotect(pages, size, PROT_READ | PROT_WRITE), 0);
    listener.guesses = true;
    EXPECT_TRUE(go_on([&] { return listener.in_place; }));
  }
  EXPECT_EQ(listener.gone, "");
  munmap(pages, size);
}

// From a rank that dies in the middle of one.
TEST_F(Bodies, ThatEndEarlyAreNotHandedOver) {
  while (sent < 30) send_next();
  for (int i = 0; i < 200 && listener.apart == 0; ++i) {
    fabrics[0]->poll(sender);
    fabrics[1]->poll(listener);
  }
  fabrics[0].reset();
  for (int i = 0; i < 20000 && listener.gone.empty(); ++i) fabrics[1]->poll(listener);
  EXPECT_NE(listener.gone, "");
  EXPECT_LE(listener.came, sent);
}

// Stores what it receives.
struct Words final : Receiver {
  std::vector<std::vector<std::byte>> batches;
  void received(int, std::span<const std::byte> batch) override {
    batches.emplace_back(batch.begin(), batch.end());
  }
  void lost(int, const std::string&) override {}
};

// Who waits for a large batch does not go to sleep while it comes.
TEST_F(Bodies, AreSaidToComeBeforeTheyAreThere) {
  constexpr size_t awaited = 20;
  const std::vector<std::byte> batch(fabrics[0]->largest_batch());
  Words words;
  bool in_part = false;
  for (size_t i = 0; i < awaited; ++i) fabrics[0]->send(1, batch);
  for (int i = 0; i < 200000 && words.batches.size() < awaited; ++i) {
    fabrics[0]->poll(sender);
    const bool any = fabrics[1]->poll(words);
    in_part = in_part || (!any && fabrics[1]->receives());
  }
  EXPECT_EQ(words.batches.size(), awaited);
  EXPECT_TRUE(in_part);
  EXPECT_FALSE(fabrics[1]->poll(words) || fabrics[1]->receives());
}

// Before there is a connection, while there is room, and behind data that wait for room.
TEST_F(Bodies, OfDataThatAreNotThereNothingIsSentButThatTheyAreMissing) {
  constexpr size_t page = 4096, size = 100 * page;
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::fill_n(pages, size, std::byte{7});
  const std::vector<std::byte> head(head_bytes, std::byte{3});
  Words words;
  size_t awaited = 0;
  const auto came = [&] {
    for (int i = 0; i < 200000 && words.batches.size() < awaited; ++i) {
      fabrics[0]->poll(sender);
      fabrics[1]->poll(words);
    }
    return words.batches.size() == awaited;
  };
  for (const bool waits : {true, false, true}) {
    for (const size_t there : {size / page, size_t{60}, size_t{1}, size_t{0}}) {
      if (there < size / page)
        EXPECT_EQ(mprotect(pages + there * page, size - there * page, PROT_NONE), 0);
      fabrics[0]->send_unsure(1, head, {pages, size}, {.all_there = 11, .missing = 22});
      fabrics[0]->send_unsure(1, head, {pages, 64}, {.all_there = 11, .missing = 22});
      awaited += 2;
      EXPECT_EQ(mprotect(pages, size, PROT_READ | PROT_WRITE), 0);
      for (int i = 0; waits && i < 50; ++i, ++awaited) fabrics[0]->send(1, head, {pages, size});
      if (!waits) EXPECT_TRUE(came());
    }
    EXPECT_TRUE(came());
  }
  size_t missing = 0;
  for (const auto& batch : words.batches) {
    EXPECT_TRUE(std::equal(head.begin(), head.end(), batch.begin()));
    if (batch.size() == head.size() + size) continue;
    uint64_t word;
    std::memcpy(&word, batch.data() + batch.size() - sizeof word, sizeof word);
    EXPECT_TRUE(word == 11 || word == 22);
    const bool whole = std::all_of(batch.begin() + head_bytes,
                                   batch.end() - static_cast<std::ptrdiff_t>(sizeof word),
                                   [](std::byte each) { return each == std::byte{7}; });
    EXPECT_EQ(whole, word == 11);
    missing += word == 22;
  }
  EXPECT_EQ(missing, 3 * (3 + 1));
  munmap(pages, size);
}

}  // namespace TEST_FILE
}  // namespace nearcache::net
