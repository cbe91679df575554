// Fabrics: every batch arrives once, whole and in order; strangers and peers that violate the
// protocol do no harm.
#include <gtest/gtest.h>

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "in_node.h"
#include "net/accepted.h"
#include "net/ofi_fabric.h"
#include "net/socket_fabric.h"
#include "net/stub_network.h"
#include "numbered_batches.h"
#include "ofi_here.h"
#include "sanitized.h"
#include "without_calls.h"

namespace nearcache::net {
namespace TEST_FILE {

constexpr Secret secret{0x1234, 0x5678};

std::unique_ptr<SocketFabric> open(SocketFabric*, int rank, int, std::string* wrong) {
  return SocketFabric::open(rank, "lo", wrong);
}
std::unique_ptr<OfiFabric> open(OfiFabric*, int rank, int ranks, std::string* wrong) {
  return OfiFabric::open(rank, ranks, "tcp", "lo", wrong);
}

// All ranks of a job, in one thread.
template <class Kind>
struct Job {
  std::vector<std::unique_ptr<Kind>> fabrics;
  std::vector<Listener> listeners;
  InNode node;  // of ranks of one node
  explicit Job(int ranks, std::vector<Secret> secrets = {})
      : listeners(static_cast<size_t>(ranks)) {
    if constexpr (std::is_same_v<Kind, NodeFabric>) {
      node = InNode(listeners.size(), ranks);
      fabrics = std::move(node.fabrics);
    } else {
      begin(ranks, std::move(secrets));
    }
  }
  Inbox* inbox(size_t rank) { return node.inbox(rank, listeners.size()); }
  void begin(int ranks, std::vector<Secret> secrets) {
    std::vector<std::decay_t<decltype(fabrics[0]->address())>> addresses;
    for (int rank = 0; rank < ranks; ++rank) {
      std::string wrong;
      fabrics.push_back(open(static_cast<Kind*>(nullptr), rank, ranks, &wrong));
      EXPECT_EQ(wrong, "");
      addresses.push_back(fabrics.back()->address());
    }
    for (size_t rank = 0; rank < fabrics.size(); ++rank)
      fabrics[rank]->know(secrets.empty() ? secret : secrets[rank], addresses);
  }
  // Runs until `done`, or until nothing happens any more.
  template <class Done>
  bool run(Done done) {
    for (int idle = 0; idle < 20000; ++idle) {
      if (done()) return true;
      for (size_t rank = 0; rank < fabrics.size(); ++rank) {
        if (fabrics[rank] != nullptr && fabrics[rank]->poll(listeners[rank])) idle = 0;
      }
      if (idle > 100) usleep(50);
    }
    return done();
  }
  // Polls the rank until it may sleep.
  void arm(size_t rank) {
    while (!fabrics[rank]->arm()) fabrics[rank]->poll(listeners[rank]);
  }
};
using Sockets = Job<SocketFabric>;

template <class Kind>
class Fabrics : public testing::Test {
  void SetUp() override {
    std::string why;
    if (std::is_same_v<Kind, OfiFabric> && !ofi_is_here(&why)) GTEST_SKIP() << why;
  }
};
using Kinds = testing::Types<SocketFabric, OfiFabric, NodeFabric>;
TYPED_TEST_SUITE(Fabrics, Kinds);
// The format of what is sent when connecting.
template <class Kind>
class Connections : public Fabrics<Kind> {};
using Connected = testing::Types<SocketFabric, OfiFabric>;
TYPED_TEST_SUITE(Connections, Connected);

bool readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

// Sends the bytes as one piece or two.
void send(Fabric& fabric, int to, const std::vector<std::byte>& bytes, size_t random) {
  const std::span all(bytes);
  const size_t first = random % 3 == 0 ? all.size() : random % (all.size() + 1);
  fabric.send(to, all.first(first), all.subspan(first));
}

TEST(Siphash, IsTheOneOfThePaper) {
  const Secret key{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  EXPECT_EQ(proof(key, {}), 0x726fdb47dd0e0e31u);
  const uint64_t word = 0x0706050403020100u;
  EXPECT_EQ(proof(key, std::span(&word, 1)), 0x93f5f5799a932462u);
}

TEST(StubNetwork, KeepsTheOrderOfEachPair) {
  StubNetwork network(5, 7);
  std::vector<Listener> listeners(5);
  std::map<std::pair<int, int>, uint64_t> sent;
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const int from = static_cast<int>(random() % 5), to = static_cast<int>(random() % 5);
    if (from != to)
      send(network.fabric(from), to, bytes_of(sent[{from, to}]++, random() % 50), random());
    if (i % 3 == 0 && network.draw() >= 0) {
      const int rank = network.draw();
      EXPECT_TRUE(network.fabric(rank).poll(listeners[static_cast<size_t>(rank)]));
    }
  }
  for (int rank; (rank = network.draw()) >= 0;)
    network.fabric(rank).poll(listeners[static_cast<size_t>(rank)]);
  for (const auto& [pair, count] : sent)
    EXPECT_EQ(listeners[static_cast<size_t>(pair.second)].got[pair.first], count);
}

TYPED_TEST(Fabrics, AllToAllArrivesInOrderThoughConnectionsCross) {
  for (int round = 0; round < (sanitized ? 2 : 5); ++round) {
    Job<TypeParam> job(6);
    std::mt19937 random(static_cast<unsigned>(round));
    uint64_t sent = 0;
    for (uint64_t number = 0; number < 40; ++number) {
      for (int from = 0; from < 6; ++from) {
        for (int to = 0; to < 6; ++to) {
          if (from == to) continue;
          const size_t length = random() % 20 == 0 ? 300000 : random() % 500;
          send(*job.fabrics[static_cast<size_t>(from)], to, bytes_of(number, length), random());
          ++sent;
        }
      }
      if (number % 4 == 0) job.fabrics[number % 6]->poll(job.listeners[number % 6]);
    }
    EXPECT_TRUE(job.run([&] {
      uint64_t got = 0;
      for (const Listener& listener : job.listeners) got += listener.total();
      return got == sent;
    }));
    for (const Listener& listener : job.listeners) EXPECT_TRUE(listener.gone.empty());
  }
}

TYPED_TEST(Fabrics, TheLargestBatchGoesAndALargerOneLosesItsSender) {
  Job<TypeParam> job(2);
  job.fabrics[0]->send(1, bytes_of(0, job.fabrics[0]->largest_batch()));
  EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
  job.fabrics[0]->send(1, bytes_of(1, job.fabrics[0]->largest_batch() + 1));
  EXPECT_TRUE(job.run(
      [&] { return job.listeners[1].gone.contains(0) && job.listeners[0].gone.contains(1); }));
  EXPECT_EQ(job.listeners[1].total(), 1u);
}

TYPED_TEST(Connections, WhoDoesNotKnowTheSecretIsLostAndChangesNothing) {
  Job<TypeParam> job(3, {secret, secret, Secret{1, 2}});
  job.fabrics[2]->send(0, bytes_of(0, 100));
  EXPECT_TRUE(job.run([&] { return job.listeners[2].gone.contains(0); }));
  EXPECT_TRUE(job.listeners[0].gone.empty());
  EXPECT_EQ(job.listeners[0].total(), 0u);
  job.fabrics[1]->send(0, bytes_of(0, 100));
  EXPECT_TRUE(job.run([&] { return job.listeners[0].total() == 1; }));
}

// Returns a connection to rank 0.
int connect_to(Sockets* sockets) {
  sockaddr_storage place;
  const SocketAddress& address = sockets->fabrics[0]->address();
  const socklen_t size = to_system(address, &place);
  const int socket = ::socket(address.family, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&place), size), 0);
  return socket;
}

// Sends these bytes, and returns whether the connection is then closed.
bool closed_after(Sockets* sockets, int socket, std::span<const std::byte> said) {
  EXPECT_EQ(::send(socket, said.data(), said.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(said.size()));
  char reply[256];
  bool closed = false;
  sockets->run([&] {
    const ssize_t got = recv(socket, reply, sizeof reply, MSG_DONTWAIT);
    return closed = got == 0 || (got < 0 && errno == ECONNRESET);
  });
  ::close(socket);
  return closed;
}

bool closed_after(Sockets* sockets, std::span<const std::byte> said) {
  return closed_after(sockets, connect_to(sockets), said);
}

TEST(SocketFabric, AStrangerIsTurnedAwayAndHarmsNobodyWhoseNameItTakes) {
  Sockets sockets(2);
  EXPECT_TRUE(closed_after(&sockets, bytes_of(77, 400)));
  struct {
    Hello hello{Hello::our_format, 1, 0, 5};
    Answer answer{99};
  } forged;
  EXPECT_TRUE(closed_after(&sockets, std::as_bytes(std::span(&forged, 1))));
  for (const int from : {-1, 0, 2, 1 << 30}) {
    const Hello hello{Hello::our_format, from, 0, 5};
    EXPECT_TRUE(closed_after(&sockets, std::as_bytes(std::span(&hello, 1)))) << from;
  }
  EXPECT_TRUE(sockets.listeners[0].gone.empty());
  sockets.fabrics[1]->send(0, bytes_of(0, 8));
  EXPECT_TRUE(sockets.run([&] { return sockets.listeners[0].total() == 1; }));
}

// It may wait until the other end hangs up, but what comes meanwhile must not be kept.
TEST(SocketFabric, ASecondConnectionThatIsTurnedAwayIsClosedIfItSaysMore) {
  Sockets sockets(2);
  sockets.fabrics[1]->send(0, bytes_of(0, 8));
  EXPECT_TRUE(sockets.run([&] { return sockets.listeners[0].total() == 1; }));
  const int socket = connect_to(&sockets);
  const auto say = [&](const auto& message) {
    EXPECT_EQ(::send(socket, &message, sizeof message, MSG_NOSIGNAL), ssize_t{sizeof message});
  };
  const auto hear = [&](auto* message) {
    return sockets.run([&] {
      return recv(socket, message, sizeof *message, MSG_DONTWAIT) == ssize_t{sizeof *message};
    });
  };
  const Hello hello{Hello::our_format, 1, 0, 5};
  Challenge challenge;
  Verdict verdict;
  say(hello);
  ASSERT_TRUE(hear(&challenge));
  say(Answer{initiator_proof(secret, hello, challenge.nonce)});
  ASSERT_TRUE(hear(&verdict));
  EXPECT_EQ(verdict, Verdict::turned_away);
  EXPECT_TRUE(closed_after(&sockets, socket, bytes_of(0, 8)));
  sockets.fabrics[1]->send(0, bytes_of(1, 8));
  EXPECT_TRUE(sockets.run([&] { return sockets.listeners[0].total() == 2; }));
}

// As through a firewall: rank 0 cannot connect to rank 1, which is not to wait for that.
TEST(SocketFabric, AConnectionIsTakenFromARankToWhichNoneGetsThrough) {
  Sockets sockets(2);
  SocketAddress full = sockets.fabrics[1]->address();
  sockaddr_storage place;
  full.port = 0;
  socklen_t size = to_system(full, &place);
  const int listener = ::socket(full.family, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&place), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  set_port(listener, &full);
  size = to_system(full, &place);
  std::vector<int> waiting;  // for as long as there is room; beyond that, nobody is answered
  for (bool answered = true; answered && waiting.size() < 16;) {
    waiting.push_back(::socket(full.family, SOCK_STREAM | SOCK_NONBLOCK, 0));
    ::connect(waiting.back(), reinterpret_cast<sockaddr*>(&place), size);
    pollfd asked{waiting.back(), POLLOUT, 0};
    answered = ::poll(&asked, 1, 100) == 1;
  }
  sockets.fabrics[0]->know(secret, {sockets.fabrics[0]->address(), full});
  sockets.fabrics[0]->send(1, bytes_of(0, 8));
  sockets.fabrics[1]->send(0, bytes_of(0, 8));
  EXPECT_TRUE(sockets.run(
      [&] { return sockets.listeners[0].total() == 1 && sockets.listeners[1].total() == 1; }));
  for (const int socket : waiting) ::close(socket);
  ::close(listener);
}

TYPED_TEST(Connections, ARankThatEndsIsLostToThoseThatSpokeWithIt) {
  Job<TypeParam> job(3);
  job.fabrics[0]->send(1, bytes_of(0, 8));
  EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
  job.fabrics[0].reset();
  EXPECT_TRUE(job.run([&] { return job.listeners[1].gone.contains(0); }));
  job.fabrics[2]->send(0, bytes_of(0, 8));  // nobody listens there any more
  EXPECT_TRUE(job.run([&] { return job.listeners[2].gone.contains(0); }));
  job.fabrics[1]->send(0, bytes_of(1, 8));
  job.fabrics[1]->send(2, bytes_of(0, 8));
  EXPECT_TRUE(job.run([&] { return job.listeners[2].total() == 1; }));
}

// The receiver may be using what a loss takes away.
TEST(SocketFabric, ALossThatIsNoticedWhileABatchIsTakenIsReportedAfterwards) {
  Job<SocketFabric> job(2);
  struct Answering final : Receiver {
    SocketFabric* fabric = nullptr;
    bool taking = false, taken = false, lost_one = false;
    void received(int, std::span<const std::byte>) override {
      taking = true;
      fabric->send(2, bytes_of(0, 8));
      taking = false, taken = true;
    }
    void lost(int peer, const std::string&) override {
      EXPECT_EQ(peer, 2);
      EXPECT_FALSE(taking);
      EXPECT_FALSE(std::exchange(lost_one, true));
    }
  } receiver;
  receiver.fabric = job.fabrics[0].get();
  SocketAddress nowhere{};  // of no family: connecting fails at once
  receiver.fabric->know(secret, {job.fabrics[0]->address(), job.fabrics[1]->address(), nowhere});
  job.fabrics[1]->send(0, bytes_of(0, 8));
  for (int turn = 0; turn < 10000 && !receiver.lost_one; ++turn) {
    job.fabrics[0]->poll(receiver);
    job.fabrics[1]->poll(job.listeners[1]);
    if (receiver.taken) EXPECT_TRUE(receiver.lost_one);  // by the same poll
  }
  EXPECT_TRUE(receiver.lost_one);
}

// It may wait for the other rank.
TYPED_TEST(Fabrics, WhoIsForgottenIsTold) {
  for (const bool spoke : {false, true}) {
    Job<TypeParam> job(3);
    if (spoke) {
      job.fabrics[0]->send(1, bytes_of(0, 8));
      EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
    }
    job.fabrics[1]->forget(0);
    job.fabrics[1]->send(0, bytes_of(0, 8));
    job.fabrics[0]->send(1, bytes_of(spoke ? 1 : 0, 8));
    EXPECT_TRUE(job.run([&] { return job.listeners[0].gone.contains(1); }));
    EXPECT_EQ(job.listeners[0].total(), 0u);
    EXPECT_EQ(job.listeners[1].total(), spoke ? 1u : 0u);
    EXPECT_TRUE(job.listeners[1].gone.empty());
    job.fabrics[1]->forget(0);
    job.fabrics[1]->send(2, bytes_of(0, 8));
    EXPECT_TRUE(job.run([&] { return job.listeners[2].total() == 1; }));
  }
}

TEST(SocketFabric, AConnectionForWhichThereIsNoDescriptorWaitsSaysSoAndKeepsNobodyAwake) {
  Sockets sockets(2);
  testing::internal::CaptureStderr();
  sockets.fabrics[0]->send(1, bytes_of(0, 8));  // has its socket
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  SocketFabric& full = *sockets.fabrics[1];
  for (int i = 0; i < 2000 && !readable(full.wait_descriptor()); ++i) usleep(100);
  for (int i = 0; i < 3; ++i) full.poll(sockets.listeners[1]);
  EXPECT_FALSE(readable(full.wait_descriptor()));
  for (int i = 0; i < 2000 && !readable(full.wait_descriptor()); ++i) usleep(100);
  full.poll(sockets.listeners[1]);  // after the pause: there is none still
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "nearcache: rank 1: a connection of another rank waits: Too many open files\n");
  EXPECT_TRUE(sockets.run([&] { return sockets.listeners[1].total() == 1; }));
  EXPECT_TRUE(sockets.listeners[0].gone.empty());
}

TEST(SocketFabric, ARankToWhichTheSystemSendsNothingIsLost) {
  Sockets sockets(2);
  sockets.fabrics[0]->send(1, bytes_of(0, 8));
  ASSERT_TRUE(sockets.run([&] { return sockets.listeners[1].total() == 1; }));
  EXPECT_TRUE(test::without_calls({SYS_sendto, SYS_sendmsg}, [&] {
    sockets.fabrics[0]->send(1, bytes_of(1, 8));
    Listener &sender = sockets.listeners[0], &receiver = sockets.listeners[1];
    return sockets.run([&] { return sender.gone.contains(1) && receiver.gone.contains(0); }) &&
           sender.gone.at(1) == "sending to it failed: Operation not permitted" &&
           receiver.gone.at(0) == "it closed the connection";
  }));
}

// Rank 1 sleeps in a set of its own beside its wait descriptor; ranks 0 and 2 send to it.
class SeparateConnection : public testing::Test {
 protected:
  static constexpr int long_enough = 100;  // polls and the like

  void SetUp() override {
    ASSERT_GE(set_, 0);
    for (const size_t sender : {0, 2}) send(sender);
    one().use_set(set_);
  }
  ~SeparateConnection() override { ::close(set_); }
  SocketFabric& one() { return *sockets_.fabrics[1]; }
  void give(size_t sender) { sockets_.fabrics[sender]->send(1, bytes_of(sent_[sender]++, 8)); }
  bool take() {
    return sockets_.run([&] { return sockets_.listeners[1].total() == sent_[0] + sent_[2]; });
  }
  void send(size_t sender) {
    give(sender);
    EXPECT_TRUE(take());
  }
  // Rank 0 has sent last whenever arrivals are watched.
  bool is_separate() {
    send(0);
    for (int i = 0; i < long_enough; ++i) one().watch_separate(true);
    return one().separate_descriptor() >= 0;
  }
  static bool comes(int descriptor) {
    pollfd asked{descriptor, POLLIN, 0};
    return ::poll(&asked, 1, 1000) == 1;
  }

  Sockets sockets_ = Sockets(3);
  uint64_t sent_[3] = {};
  const int set_ = epoll_create1(EPOLL_CLOEXEC);
};

TEST_F(SeparateConnection, WakesWhereItIsWatchedAndNowhereElse) {
  ASSERT_TRUE(is_separate());
  give(0);
  EXPECT_TRUE(comes(set_));
  EXPECT_FALSE(readable(one().wait_descriptor()));
  EXPECT_TRUE(one().watch_separate(false));
  EXPECT_FALSE(readable(set_));
  EXPECT_TRUE(one().watch_separate(true));
  EXPECT_TRUE(readable(set_));
  epoll_event event;
  ASSERT_EQ(epoll_wait(set_, &event, 1, 0), 1);
  EXPECT_EQ(event.data.fd, one().separate_descriptor());
  EXPECT_TRUE(take());
  EXPECT_FALSE(readable(set_));
}

TEST_F(SeparateConnection, LeavesTheOthersToTheWaitDescriptor) {
  ASSERT_TRUE(is_separate());
  give(2);
  EXPECT_TRUE(comes(one().wait_descriptor()));
  EXPECT_FALSE(readable(set_));
  one().woken(one().wait_descriptor());
  EXPECT_TRUE(one().poll(sockets_.listeners[1]));  // at once, though rank 0's is in use
  EXPECT_EQ(sockets_.listeners[1].got[2], sent_[2]);
  // It is still polled now and then while another one is in use.
  give(0);
  EXPECT_TRUE(comes(set_));
  EXPECT_TRUE(take());
}

TEST_F(SeparateConnection, IsOfThoseInUseAlternatelyNone) {
  for (int i = 0; i < long_enough; ++i) {
    send(i % 2 == 0 ? 0 : 2);
    EXPECT_FALSE(one().watch_separate(true));
  }
}

TEST_F(SeparateConnection, IsWatchedWithTheOthersAgain) {
  ASSERT_TRUE(is_separate());
  one().watch_together();
  EXPECT_EQ(one().separate_descriptor(), -1);
  give(0);
  EXPECT_TRUE(comes(one().wait_descriptor()));
  EXPECT_FALSE(readable(set_));
  EXPECT_FALSE(one().watch_separate(false));
  EXPECT_TRUE(take());
  ASSERT_TRUE(is_separate());
  one().use_set(-1);
  EXPECT_EQ(one().separate_descriptor(), -1);
  EXPECT_FALSE(is_separate());
}

TEST_F(SeparateConnection, WaitsForRoomLikeTheOthers) {
  ASSERT_TRUE(is_separate());
  const std::vector<std::byte> batch = bytes_of(0, 64 << 10);
  for (uint64_t i = 0; i < 200; ++i) one().send(0, bytes_of(i, batch.size()));
  EXPECT_TRUE(sockets_.run([&] { return sockets_.listeners[0].got[1] == 200; }));
  EXPECT_GE(one().separate_descriptor(), 0);
  EXPECT_FALSE(readable(one().wait_descriptor()));
}

TEST_F(SeparateConnection, LeavesTheSetBeforeItIsClosed) {
  ASSERT_TRUE(is_separate());
  const int child_has_it = dup(one().separate_descriptor());
  sockets_.fabrics[0].reset();
  EXPECT_TRUE(comes(set_));
  EXPECT_TRUE(sockets_.run([&] { return sockets_.listeners[1].gone.contains(0); }));
  EXPECT_EQ(one().separate_descriptor(), -1);
  EXPECT_FALSE(readable(set_));
  ::close(child_has_it);
}

TYPED_TEST(Fabrics, TheDescriptorIsReadableUntilAPollHasTakenWhatThereIs) {
  Job<TypeParam> job(2);
  const auto settle = [&](size_t rank) {
    for (job.arm(rank); readable(job.fabrics[rank]->wait_descriptor()); job.arm(rank))
      job.fabrics[rank]->poll(job.listeners[rank]);
  };
  job.fabrics[0]->send(1, bytes_of(0, 8));
  EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
  settle(1);
  for (uint64_t number = 1; number < 50; ++number) {
    job.fabrics[0]->send(1, bytes_of(number, 8 << (number % 13)));
    // Rank 1 learns of it only by its descriptor, whatever it sends to itself meanwhile.
    if (number % 2 == 0) job.fabrics[1]->send(0, bytes_of(number / 2 - 1, 100));
    for (int turn = 0; job.listeners[1].total() <= number && turn < 5000; ++turn) {
      if (readable(job.fabrics[1]->wait_descriptor())) {
        job.fabrics[1]->poll(job.listeners[1]);
        job.arm(1);
      } else {
        job.fabrics[0]->poll(job.listeners[0]);
        usleep(20);
      }
    }
    ASSERT_EQ(job.listeners[1].total(), number + 1);
    settle(1);
  }
  job.fabrics[1]->ring();
  EXPECT_TRUE(readable(job.fabrics[1]->wait_descriptor()));
  settle(1);
  EXPECT_FALSE(readable(job.fabrics[1]->wait_descriptor()));
}

// Many more messages than buffers, in both directions at once, while no rank is polled for long.
TYPED_TEST(Fabrics, WhatIsNotTakenForLongIsNotLost) {
  Job<TypeParam> job(2);
  for (uint64_t number = 0; number < 400; ++number) {
    job.fabrics[0]->send(1, bytes_of(number, number % 3 == 0 ? 40000 : 16));
    if (number % 2 == 0) job.fabrics[1]->send(0, bytes_of(number / 2, 20000));
    if (number % 7 == 0) job.fabrics[0]->poll(job.listeners[0]);
    if (number % 100 == 50) job.fabrics[1]->poll(job.listeners[1]);
  }
  EXPECT_TRUE(
      job.run([&] { return job.listeners[0].total() == 200 && job.listeners[1].total() == 400; }));
}

// Whoever polls holds a lock that others want.
TYPED_TEST(Fabrics, APollEndsThoughMoreKeepsComing) {
  Job<TypeParam> job(2);
  constexpr size_t length = 64 << 10;
  constexpr uint64_t enough = 2000;
  struct Greedy final : Receiver {
    Job<TypeParam>* job;
    uint64_t sent = 0, taken = 0;
    void received(int, std::span<const std::byte>) override {
      ++taken;
      ask();
    }
    void lost(int, const std::string& why) override { ADD_FAILURE() << why; }
    void ask() {
      if (sent < enough) job->fabrics[0]->send(1, bytes_of(sent++, length));
      job->fabrics[0]->poll(job->listeners[0]);
    }
  } receiver;
  receiver.job = &job;
  for (int i = 0; i < 8; ++i) receiver.ask();
  for (int turn = 0; receiver.taken < enough && turn < 100000; ++turn) {
    const uint64_t before = receiver.taken;
    job.fabrics[1]->poll(receiver);
    EXPECT_LT(receiver.taken - before, enough / 10);
    job.fabrics[0]->poll(job.listeners[0]);
  }
  EXPECT_EQ(receiver.taken, enough);
}

using ByMemory = Job<NodeFabric>;

TEST(NodeFabric, NobodyRingsWhereSomebodyLooks) {
  ByMemory job(2);
  job.fabrics[1]->poll(job.listeners[1]);
  job.fabrics[0]->send(1, bytes_of(0, 100));
  EXPECT_FALSE(readable(job.fabrics[1]->wait_descriptor()));
  EXPECT_FALSE(job.fabrics[1]->arm());  // it must look once more
  EXPECT_TRUE(job.fabrics[1]->poll(job.listeners[1]));
  EXPECT_TRUE(job.fabrics[1]->arm());
  job.fabrics[0]->send(1, bytes_of(1, 100));
  EXPECT_TRUE(readable(job.fabrics[1]->wait_descriptor()));
}

TEST(NodeFabric, WhoDozesIsRungWhenTheSenderLeavesAndNotIfItCameByItself) {
  ByMemory job(2);
  NodeFabric &sender = *job.fabrics[0], &dozes = *job.fabrics[1];
  EXPECT_TRUE(dozes.arm_briefly());
  sender.send(1, bytes_of(0, 8));
  EXPECT_FALSE(readable(dozes.wait_descriptor()));
  EXPECT_TRUE(sender.arm());
  EXPECT_TRUE(readable(dozes.wait_descriptor()));
  dozes.poll(job.listeners[1]);
  EXPECT_FALSE(readable(dozes.wait_descriptor()));
  // The sender's agent has its descriptor: nobody would ring later.
  EXPECT_TRUE(dozes.arm());
  sender.send(1, bytes_of(1, 8));
  EXPECT_TRUE(readable(dozes.wait_descriptor()));
  dozes.poll(job.listeners[1]);
  sender.poll(job.listeners[0]);
  job.inbox(1)->watch = Inbox::Watch::dozes;
  sender.send(1, bytes_of(2, 8));
  dozes.poll(job.listeners[1]);
  EXPECT_TRUE(sender.arm());
  EXPECT_FALSE(readable(dozes.wait_descriptor()));
  EXPECT_EQ(job.listeners[1].total(), 3u);
}

TEST(NodeFabric, WhoWaitsForRoomIsRungWhenThereIsSome) {
  ByMemory job(2);
  for (uint64_t number = 0; number < 20; ++number) job.fabrics[0]->send(1, bytes_of(number, 5000));
  EXPECT_TRUE(job.fabrics[0]->arm());
  EXPECT_FALSE(readable(job.fabrics[0]->wait_descriptor()));
  job.fabrics[1]->poll(job.listeners[1]);
  job.fabrics[1]->arm();
  EXPECT_TRUE(readable(job.fabrics[0]->wait_descriptor()));
  EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 20; }));
}

// Another thread sends: it was waiting for the sleeping thread to look itself.
TEST(NodeFabric, WhatFindsNoRoomWhileItsRankSleepsWakesIt) {
  ByMemory job(2);
  job.fabrics[0]->poll(job.listeners[0]);
  EXPECT_TRUE(job.fabrics[0]->arm());
  for (uint64_t number = 0; number < 20; ++number) job.fabrics[0]->send(1, bytes_of(number, 5000));
  EXPECT_TRUE(readable(job.fabrics[0]->wait_descriptor()));
  job.fabrics[0]->poll(job.listeners[0]);
  EXPECT_TRUE(job.fabrics[0]->arm());
  EXPECT_FALSE(readable(job.fabrics[0]->wait_descriptor()));
  job.fabrics[1]->poll(job.listeners[1]);
  EXPECT_TRUE(readable(job.fabrics[0]->wait_descriptor()));
}

TEST(NodeFabric, WhoSaysWhatCannotBeIsLost) {
  for (const uint64_t word :
       {SharedRing::goes_on, SharedRing::most_bytes + 1, uint64_t{1} << 40, UINT64_MAX}) {
    ByMemory job(2);
    job.fabrics[0]->send(1, bytes_of(0, 8));
    EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
    job.inbox(1)->ring(0, 2).word(1).store(word);
    EXPECT_TRUE(job.run([&] { return job.listeners[1].gone.contains(0); })) << word;
    EXPECT_TRUE(job.run([&] { return job.listeners[0].gone.contains(1); })) << word;
  }
  for (const uint64_t read : {uint64_t{1} << 40, UINT64_MAX}) {
    ByMemory job(2);
    job.fabrics[0]->send(1, bytes_of(0, 8));
    job.inbox(1)->ring(0, 2).read.store(read);
    for (uint64_t number = 1; number < 20; ++number)
      job.fabrics[0]->send(1, bytes_of(number, 5000));
    EXPECT_TRUE(job.run([&] { return job.listeners[0].gone.contains(1); })) << read;
  }
}

// A batch without an end.
TEST(NodeFabric, WhoseBatchHasNoEndIsLost) {
  ByMemory job(2);
  job.fabrics[0]->send(1, bytes_of(0, 8));
  EXPECT_TRUE(job.run([&] { return job.listeners[1].total() == 1; }));
  SharedRing& ring = job.inbox(1)->ring(0, 2);
  for (uint64_t line = 1; !job.listeners[1].gone.contains(0); ++line) {
    ASSERT_LT(line, uint64_t{1} << 20);
    ring.word(line).store(56 | SharedRing::goes_on);
    job.fabrics[1]->poll(job.listeners[1]);
  }
}

// Another process is killed at an arbitrary point. The batch that it had begun never arrives, and
// others continue.
TEST(NodeFabric, WhoIsKilledWhileItWritesLeavesNothingHalfWritten) {
  for (int round = 0; round < 20; ++round) {
    ByMemory job(3);
    const pid_t child = fork();
    if (child == 0) {
      Listener nobody;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (uint64_t number = 0; number < 100000; ++number) {
        job.fabrics[0]->send(1, bytes_of(number, number % 7 == 0 ? 30000 : number % 300));
        while (!job.fabrics[0]->arm()) job.fabrics[0]->poll(nobody);
      }
      pause();
    }
    const auto most = static_cast<uint64_t>(50 + 17 * round);
    EXPECT_TRUE(job.run([&] { return job.listeners[1].total() >= most; }));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (job.fabrics[1]->poll(job.listeners[1])) {
    }
    job.fabrics[1]->forget(0);
    job.fabrics[1]->send(0, bytes_of(0, 100));
    job.fabrics[2]->send(1, bytes_of(0, 40000));
    EXPECT_TRUE(job.run([&] { return job.listeners[1].got[2] == 1; }));
    EXPECT_TRUE(job.listeners[1].gone.empty());
  }
}

TEST(NodeFabric, GoesByAnotherToRanksOfOtherNodes) {
  Sockets sockets(3);
  Listener listener;
  const InNode node(2, 3, {sockets.fabrics[0].get(), sockets.fabrics[1].get()});
  NodeFabric* const fabric = node.fabrics[0].get();
  EXPECT_FALSE(fabric->rests_unless_armed());
  fabric->send(2, bytes_of(0, 8));
  for (int turn = 0; turn < 10000 && sockets.listeners[2].total() == 0; ++turn) {
    fabric->poll(listener);
    sockets.fabrics[2]->poll(sockets.listeners[2]);
  }
  EXPECT_EQ(sockets.listeners[2].total(), 1u);
  while (!fabric->arm()) fabric->poll(listener);
  sockets.fabrics[2]->send(0, bytes_of(0, 8));
  for (int turn = 0; turn < 1000 && !readable(fabric->wait_descriptor()); ++turn) usleep(100);
  EXPECT_TRUE(readable(fabric->wait_descriptor()));
  for (int turn = 0; turn < 1000 && listener.total() == 0; ++turn) fabric->poll(listener);
  EXPECT_EQ(listener.total(), 1u);
}

// Memory of other ranks, with both ways to detect the end of a write; the TCP provider has both.
class OfiMemory : public testing::TestWithParam<bool> {
 protected:
  using Direct = OfiFabric::Direct;
  struct Ended final : Receiver {
    std::vector<uint64_t> tokens;
    std::vector<std::byte> read;
    std::vector<int> gone;
    void received(int, std::span<const std::byte>) override {}
    void lost(int peer, const std::string&) override { gone.push_back(peer); }
    void transferred(int, uint64_t token, std::span<const std::byte> data) override {
      tokens.push_back(token);
      read.insert(read.end(), data.begin(), data.end());
    }
  };
  struct Rank {
    std::unique_ptr<OfiFabric> fabric;
    Ended ended;
    DirectMemory& memory() { return *fabric->direct_memory(); }
  };

  void SetUp() override {
    std::string why;
    if (!ofi_is_here(&why)) GTEST_SKIP() << why;
    std::vector<OfiAddress> addresses;
    for (int rank = 0; rank < 2; ++rank) {
      ranks_[rank].fabric = OfiFabric::open(rank, 2, "tcp", "lo", &why,
                                            GetParam() ? Direct::any : Direct::any_reads_behind);
      ASSERT_EQ(why, "");
      ASSERT_NE(ranks_[rank].fabric->direct_memory(), nullptr);
      addresses.push_back(ranks_[rank].fabric->address());
    }
    for (Rank& each : ranks_) each.fabric->know(secret, addresses);
    exposed_ = ranks_[1].memory().expose(there_.data(), there_.size());
    ASSERT_NE(exposed_, nullptr);
    EXPECT_FALSE(ranks_[0].memory().reaches(1));
    EXPECT_FALSE(ranks_[0].memory().has_room(1));
    ranks_[0].fabric->send(1, bytes_of(0, 8));
    ASSERT_TRUE(run([&] { return ranks_[0].memory().reaches(1); }));
  }
  template <class Done>
  bool run(Done done) {
    for (int turn = 0; turn < 100000; ++turn) {
      if (done()) return true;
      for (Rank& each : ranks_) {
        if (each.fabric != nullptr) each.fabric->poll(each.ended);
      }
    }
    return done();
  }
  // Retries while there is no room.
  void write(uint64_t offset, std::span<const std::byte> data, uint64_t token) {
    ASSERT_TRUE(run([&] { return ranks_[0].memory().has_room(1); }));
    ranks_[0].memory().begin_write(1, exposed_->key(), offset, data, token);
  }
  void read(uint64_t offset, size_t size, uint64_t token) {
    ASSERT_TRUE(run([&] { return ranks_[0].memory().has_room(1); }));
    ranks_[0].memory().begin_read(1, exposed_->key(), offset, size, token);
  }
  bool ended(size_t count) {
    return run([&] { return ranks_[0].ended.tokens.size() == count; });
  }

  Rank ranks_[2];
  std::vector<std::byte> there_ = std::vector<std::byte>(1 << 20);
  std::unique_ptr<DirectMemory::Exposed> exposed_;
};

TEST_P(OfiMemory, IsWrittenWhenThatIsSaidAndInOrder) {
  std::vector<std::byte> data(DirectMemory::most_bytes);
  for (uint64_t i = 0; i < 200; ++i) {
    const size_t size = i % 3 == 0 ? data.size() : 1 + i;
    std::ranges::fill(data, static_cast<std::byte>(i + 1));
    const size_t before = ranks_[0].ended.tokens.size();
    write(i * 4000, std::span(data).first(size), i);
    std::ranges::fill(data, std::byte{0});  // already copied
    if (i % 7 != 0) continue;
    ASSERT_TRUE(ended(i + 1)) << before;
    EXPECT_EQ(there_[i * 4000 + size - 1], static_cast<std::byte>(i + 1));
  }
  ASSERT_TRUE(ended(200));
  for (uint64_t i = 0; i < 200; ++i) EXPECT_EQ(ranks_[0].ended.tokens[i], i);
}

TEST_P(OfiMemory, IsReadAmongMessagesAndWhileTheOtherWrites) {
  for (size_t i = 0; i < there_.size(); ++i) there_[i] = static_cast<std::byte>(i * 7 >> 3);
  std::vector<std::byte> expected;
  for (uint64_t i = 0; i < 300; ++i) {
    const size_t size = i % 4 == 0 ? DirectMemory::most_bytes : 1 + i * 3;
    read(i * 3000, size, i);
    expected.insert(expected.end(), there_.begin() + static_cast<std::ptrdiff_t>(i * 3000),
                    there_.begin() + static_cast<std::ptrdiff_t>(i * 3000 + size));
    ranks_[0].fabric->send(1, bytes_of(i, 20000));
    ranks_[1].fabric->send(0, bytes_of(i, 20000));
  }
  ASSERT_TRUE(ended(300));
  EXPECT_TRUE(ranks_[0].ended.read == expected);
}

// The waiting rank sleeps on its descriptor, the other on its own.
TEST_P(OfiMemory, WakesWhoSleeps) {
  const auto sleep = [&](Rank& rank) {
    while (!rank.fabric->arm()) rank.fabric->poll(rank.ended);
    pollfd asked{rank.fabric->wait_descriptor(), POLLIN, 0};
    if (::poll(&asked, 1, 0) == 1) rank.fabric->poll(rank.ended);
  };
  for (uint64_t i = 0; i < 50; ++i) {
    i % 2 == 0 ? read(0, 50000, i) : write(0, std::span(there_).first(50000), i);
    for (int turn = 0; turn < 10000 && ranks_[0].ended.tokens.size() <= i; ++turn) {
      sleep(ranks_[0]);
      sleep(ranks_[1]);
    }
    ASSERT_EQ(ranks_[0].ended.tokens.size(), i + 1);
  }
}

// Access to memory that is not exposed loses the connection, and nothing else.
TEST_P(OfiMemory, IsOutOfReachOnceItIsNotExposedAnyMore) {
  const DirectMemory::Key key = exposed_->key();
  exposed_.reset();
  ASSERT_TRUE(ranks_[0].memory().has_room(1));
  ranks_[0].memory().begin_read(1, key, 0, 8, 1);
  ASSERT_TRUE(run([&] { return !ranks_[0].ended.gone.empty(); }));
  EXPECT_TRUE(ranks_[0].ended.tokens.empty());
  EXPECT_FALSE(ranks_[0].memory().has_room(1));
  EXPECT_FALSE(ranks_[0].memory().reaches(1));
}

TEST_P(OfiMemory, OfARankThatEndsIsForgotten) {
  for (uint64_t i = 0; ranks_[0].memory().has_room(1); ++i)
    ranks_[0].memory().begin_read(1, exposed_->key(), 0, 60000, i);
  exposed_.reset();
  ranks_[1].fabric.reset();
  ASSERT_TRUE(run([&] { return !ranks_[0].ended.gone.empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Ways, OfiMemory, testing::Bool());

TEST(OfiFabric, ReachesMemoryBySoftwareOnlyIfThatIsAskedFor) {
  std::string why;
  if (!ofi_is_here(&why)) GTEST_SKIP() << why;
  for (const auto direct : {OfiFabric::Direct::none, OfiFabric::Direct::hardware}) {
    const auto fabric = OfiFabric::open(0, 2, "tcp", "lo", &why, direct);
    ASSERT_NE(fabric, nullptr) << why;
    EXPECT_EQ(fabric->direct_memory(), nullptr);
  }
}

// Of a rank that has noticed that somebody connects, and has not taken the connection.
class EndOfOfiFabric : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    if (!ofi_is_here(&why)) GTEST_SKIP() << why;
    job.emplace(2);
    address = job->fabrics[1]->address();
  }
  void end() {
    job->fabrics[1] = nullptr;
    EXPECT_EQ(shut_down_accepted(std::span(address.bytes).first(address.size)), 0);
  }
  std::optional<Job<OfiFabric>> job;
  OfiAddress address;
};

TEST_F(EndOfOfiFabric, TurnsAwayWhoHasAskedForAConnection) {
  job->fabrics[0]->send(1, bytes_of(0, 8), {});
  // In libfabric 1.17 arming makes progress without reading events.
  for (int i = 0; i < 500 && job->fabrics[1]->arm(); ++i) {
    job->fabrics[0]->poll(job->listeners[0]);
    usleep(50);
  }
  end();
  EXPECT_TRUE(job->run([&] { return job->listeners[0].gone.contains(1); }));
}

TEST_F(EndOfOfiFabric, HangsUpOnWhoHasSaidNothing) {
  const auto* const at = reinterpret_cast<const sockaddr*>(address.bytes);
  const int stranger = socket(at->sa_family, SOCK_STREAM, 0);
  ASSERT_EQ(connect(stranger, at, static_cast<socklen_t>(address.size)), 0);
  job->arm(1);  // accepts it
  end();
  pollfd asked{stranger, POLLIN, 0};
  EXPECT_EQ(::poll(&asked, 1, 10000), 1);
  close(stranger);
}

TEST(OfiFabric, SaysWhyThereIsNone) {
  std::string wrong;
  EXPECT_EQ(OfiFabric::open(0, 2, "tcp;ofi_rxm", "", &wrong), nullptr);
  EXPECT_NE(wrong, "");
}

}  // namespace TEST_FILE
}  // namespace nearcache::net
