// The fabric over TCP, which needs nothing but the system. A connection is made when the first
// batch goes between two ranks, and serves both directions.
//
// What comes in is not trusted: no connection without a proof of the job's secret (handshake.h), no
// frame longer than largest_batch, no rank that is none. A peer that breaks these rules is lost;
// the process goes on.
//
// All descriptors are in one epoll set, the wait descriptor. It is level-triggered and knows a
// doorbell, so it stays readable until a poll has taken what there was.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "net/authentication.h"
#include "net/byte_queue.h"
#include "net/fabric.h"
#include "net/handshake.h"
#include "net/socket_address.h"

namespace nearcache::net {

class SocketFabric final : public Fabric {
 public:
  // Listens; null and the reason where that is impossible. Nothing may be sent, and no poll made,
  // before `know`.
  static std::unique_ptr<SocketFabric> open(int rank, const std::string& interface,
                                            std::string* wrong);
  ~SocketFabric() override;

  const SocketAddress& address() const { return address_; }
  // The secret of the job, and the addresses of all its ranks.
  void know(const Secret& secret, std::vector<SocketAddress> addresses) {
    secret_ = secret;
    addresses_ = std::move(addresses);
  }

  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(addresses_.size()); }
  size_t largest_batch() const override { return size_t{1} << 20; }
  void send(int to, std::span<const std::byte> batch) override;
  bool poll(Receiver& receiver) override;
  int wait_descriptor() const override { return epoll_; }
  void ring() override;

 private:
  enum class State { connecting, said_hello, answered, awaits_hello, awaits_answer, open, closed };
  struct Connection {
    int socket = -1;
    State state = State::connecting;
    int peer = -1;  // -1: it has not said yet
    Hello hello{};
    uint64_t challenge = 0;
    bool wants_to_write = false;
    ByteQueue in, out;
  };
  struct Peer {
    Connection* connection = nullptr;  // that is open
    Connection* attempt = nullptr;     // of ours, that is not yet
    bool lost = false;
    ByteQueue out;  // frames that no open connection has taken
  };

  explicit SocketFabric(int rank) : rank_(rank) {}
  std::string listen_at(const std::string& interface);

  void connect(int to, Peer* peer);
  void accept_all();
  void watch_listener(bool wanted);
  Connection* watch(int socket, State state);
  void close(Connection* connection);
  void lose(Connection* connection, const std::string& why);
  void lose(int rank, const std::string& why);

  void look_at_all();
  bool handle(Connection* connection, uint32_t events);
  void connected(Connection* connection);
  bool read(Connection* connection);
  bool take(Connection* connection);
  template <class Message>
  bool take_one(Connection* connection, void (SocketFabric::*accept)(Connection*, const Message&));
  bool take_frames(Connection* connection);
  void take_hello(Connection* connection, const Hello& hello);
  void take_challenge(Connection* connection, const Challenge& challenge);
  void take_answer(Connection* connection, const Answer& answer);
  void take_verdict(Connection* connection, const Verdict& verdict);
  void opened(Connection* connection);

  template <class Message>
  void say(Connection* connection, const Message& message);
  void write(Connection* connection);
  void want_to_write(Connection* connection, bool wanted);
  ByteQueue& queue_of(Connection* connection);

  int rank_;
  Secret secret_{};
  SocketAddress address_{};
  std::vector<SocketAddress> addresses_;
  int epoll_ = -1, listener_ = -1, doorbell_ = -1;
  int pause_ = -1;  // a timer: when to accept again
  std::unordered_map<int, Peer> peers_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> closed_;     // freed at the end of a poll, as its events may name them
  std::vector<Connection*> strangers_;  // accepted and not proven, the oldest first
  // a batch went or came last: asked first, which saves a call of epoll
  Connection* recent_ = nullptr;
  Receiver* receiver_ = nullptr;                   // during a poll
  std::vector<std::pair<int, std::string>> lost_;  // outside of a poll, to be told in the next
  int polls_ = 0;
  bool watches_listener_ = true;
  bool moved_ = false;
};

}  // namespace nearcache::net
