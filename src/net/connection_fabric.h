// SPDX-License-Identifier: BSD-3-Clause

// The common part of connection-based fabrics: which ranks are connected and which are lost, the
// handshake, and batches as frames in a byte stream. A connection is made when the first batch is
// sent between two ranks, and serves both directions.
//
// Input is not trusted: there is no connection without proof of the job's secret (handshake.h), no
// frame longer than largest_batch(), no invalid rank. A peer that breaks these rules is lost; the
// process goes on.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/authentication.h"
#include "net/byte_queue.h"
#include "net/detour.h"
#include "net/fabric.h"
#include "net/handshake.h"

namespace nearcache::net {

class ConnectionFabric : public Fabric {
 public:
  int rank() const override { return rank_; }
  int ranks() const override { return ranks_; }
  size_t largest_batch() const override { return size_t{1} << 20; }
  bool poll(Receiver& receiver) final;
  // Only for networks that hand data to the kernel, which detects missing memory.
  void send_unsure(int to, std::span<const std::byte> batch, std::span<const std::byte> data,
                   Ending ending) override;
  void watch_peer(int rank) final;
  void forget(int rank) final;

 protected:
  enum class State {
    connecting,
    said_hello,
    answered,
    awaits_hello,
    awaits_answer,
    turned_away,  // the other end closes the connection when it learns of this
    open,
    closed
  };
  static constexpr size_t frame_head = sizeof(uint64_t);  // holds the frame's length
  static constexpr size_t both_heads = frame_head + Receiver::head_bytes;
  // A batch whose body is read directly to its destination (Receiver::body).
  struct Apart {
    std::array<std::byte, Receiver::head_bytes> head;
    size_t batch = 0, body = 0;  // bytes; body is 0 if there is no such batch
    size_t come = 0;             // bytes of the body received so far
    bool in_place = true;
  };
  // What the last frame suggests of the next one: it is small; it has a body to be received apart;
  // it is large and has none.
  enum class Next : uint8_t { small, apart, whole };
  static constexpr size_t small_frame = 9 << 10;
  struct Connection {
    virtual ~Connection() = default;
    State state = State::connecting;
    int peer = -1;  // -1: not known yet
    Hello hello{};
    uint64_t challenge = 0;
    ByteQueue in, out;
    Apart apart;
    Next next = Next::small;
  };

  explicit ConnectionFabric(int rank) : rank_(rank) {}
  void know(const Secret& secret, int ranks) { secret_ = secret, ranks_ = ranks; }

  // Implemented by each network.

  // Begins a connection. Returns null, and the reason in `wrong`, if it cannot.
  virtual Connection* connect(int to, std::string* wrong) = 0;
  // Sends as much of the pieces (at most most_pieces of them) as is possible now, and returns the
  // number of bytes sent. If the connection is broken it returns the size of all pieces; a later
  // poll reports the loss.
  using Pieces = std::span<const std::span<const std::byte>>;
  static constexpr size_t most_pieces = 4;
  virtual size_t give(Connection* connection, Pieces pieces) = 0;
  // Tells the network whether queued bytes wait for room in the connection.
  virtual void want_to_write(Connection* connection, bool wanted) = 0;
  // Closes the connection. The object is freed only at the end of the poll.
  virtual void hang_up(Connection* connection) = 0;
  virtual void look() = 0;  // the network's part of poll()

  // Called by each network.

  Connection* add(std::unique_ptr<Connection> connection);
  void accepted(Connection* connection);   // after add(), if the other end began it
  void connected(Connection* connection);  // our attempt has succeeded
  void arrived(Connection* connection, std::span<const std::byte> bytes);
  void take(Connection* connection);  // processes bytes appended to `in`
  // For networks that read bodies directly to their destination. `in` of an open connection begins
  // with the heads of an incomplete frame and of its batch. Returns true if the receiver wants the
  // body apart (if `only` is not null: exactly there); the caller then consumes these heads.
  bool begin_apart(Connection* connection, const Place* only = nullptr);
  // Consumes these heads, and moves what follows them of the body to its destination.
  void move_begun(Connection* connection);
  Receiver& receiver() { return *receiver_; }  // only during a poll
  void write(Connection* connection);          // sends queued bytes, if there is room again
  void lose(Connection* connection, const std::string& why);
  void transferred(const Connection* connection, uint64_t token, std::span<const std::byte> data) {
    moved_ = true;
    receiver_->transferred(connection->peer, token, data);
  }

  // Returns null if no connection to this peer is open.
  Connection* open_connection(int peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? nullptr : found->second.connection;
  }
  const auto& connections() const { return connections_; }
  Detour& detour() { return detour_; }
  ByteQueue& queue_of(Connection* connection) {
    return connection->state == State::open ? peers_[connection->peer].out : connection->out;
  }

  // the last one that a batch was sent or received on: polled first
  Connection* recent_ = nullptr;
  bool moved_ = false;  // this poll has received or lost something

 private:
  struct Peer {
    Connection* connection = nullptr;  // open, or null
    Connection* attempt = nullptr;     // begun by this rank and not open yet, or null
    bool lost = false;
    ByteQueue out;  // frames not yet passed to an open connection
  };

  void send_both(int to, std::span<const std::byte> batch, std::span<const std::byte> end) final;
  void send_pieces(int to, Pieces pieces, size_t bytes);
  bool send_now(int to, Peer* peer, Pieces pieces, size_t bytes, size_t* gone);
  bool attempt(int to, Peer* peer, std::string* wrong);
  void close(Connection* connection);
  void lose(int rank, const std::string& why);
  void tell_losses();
  template <class Message>
  bool take_one(Connection* connection,
                void (ConnectionFabric::*accept)(Connection*, const Message&));
  size_t take_frames(Connection* connection, std::span<const std::byte> bytes);
  void learn(Connection* connection, std::span<const std::byte> batch);
  size_t take_apart(Connection* connection, std::span<const std::byte> bytes);
  bool sound(Connection* connection, uint64_t length);
  void take_hello(Connection* connection, const Hello& hello);
  void take_challenge(Connection* connection, const Challenge& challenge);
  void take_answer(Connection* connection, const Answer& answer);
  void take_verdict(Connection* connection, const Verdict& verdict);
  void opened(Connection* connection);
  template <class Message>
  void say(Connection* connection, const Message& message);

  int rank_, ranks_ = 0;
  Secret secret_{};
  std::unordered_map<int, Peer> peers_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> closed_;  // freed at the end of a poll, as its events may refer to them
  std::vector<Connection*> strangers_;  // accepted but not authenticated, oldest first
  Receiver* receiver_ = nullptr;        // set only during a poll
  Detour detour_;
  std::vector<std::pair<int, std::string>> lost_;  // not reported yet
};

}  // namespace nearcache::net
