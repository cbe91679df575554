// What connection-based fabrics have in common: which ranks are connected and which are lost, the
// handshake, and batches as frames in a byte stream. A connection is made when the first batch is
// sent between two ranks, and serves both directions.
//
// Input is not trusted: no connection without a proof of the job's secret (handshake.h), no frame
// longer than largest_batch, no invalid rank. A peer that breaks these rules is lost; the process
// goes on.
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
  // For networks that take data by the system only.
  void send_unsure(int to, std::span<const std::byte> batch, std::span<const std::byte> data,
                   Ending ending) override;
  void forget(int rank) final;

 protected:
  enum class State {
    connecting,
    said_hello,
    answered,
    awaits_hello,
    awaits_answer,
    turned_away,  // the other end, which closes it when it has learned that
    open,
    closed
  };
  static constexpr size_t frame_head = sizeof(uint64_t);  // its length
  static constexpr size_t both_heads = frame_head + Receiver::head_bytes;
  // A batch whose body is read to a place of its own (Receiver::body).
  struct Apart {
    std::array<std::byte, Receiver::head_bytes> head;
    size_t batch = 0, body = 0;  // bytes, the body's at least 1; 0: there is none
    size_t come = 0;             // of the body
    bool in_place = true;
  };
  struct Connection {
    virtual ~Connection() = default;
    State state = State::connecting;
    int peer = -1;  // -1: it has not said yet
    Hello hello{};
    uint64_t challenge = 0;
    ByteQueue in, out;
    Apart apart;
  };

  explicit ConnectionFabric(int rank) : rank_(rank) {}
  void know(const Secret& secret, int ranks) { secret_ = secret, ranks_ = ranks; }

  // What a network is asked for.

  // Begins a connection; null and the reason if it cannot.
  virtual Connection* connect(int to, std::string* wrong) = 0;
  // Takes as much of all pieces, at most most_pieces, as goes now, and says how much; all of it if
  // the connection is broken, of which a later poll tells.
  using Pieces = std::span<const std::span<const std::byte>>;
  static constexpr size_t most_pieces = 4;
  virtual size_t give(Connection* connection, Pieces pieces) = 0;
  // Whether bytes wait for room.
  virtual void want_to_write(Connection* connection, bool wanted) = 0;
  // Ends it. Its memory stays until the end of the poll.
  virtual void hang_up(Connection* connection) = 0;
  virtual void look() = 0;  // a poll

  // What a network tells.

  Connection* add(std::unique_ptr<Connection> connection);
  void accepted(Connection* connection);   // it has been added, and was begun by the other end
  void connected(Connection* connection);  // by our attempt
  void arrived(Connection* connection, std::span<const std::byte> bytes);
  void take(Connection* connection);  // bytes that were added to `in`
  // Of a network that reads bodies to where they go. An open connection's `in` is the head of a
  // frame, and is to be consumed if the receiver wants its body apart; `only` there, if it is not
  // null.
  bool begin_apart(Connection* connection, const Place* only = nullptr);
  Receiver& receiver() { return *receiver_; }  // during a poll
  void write(Connection* connection);          // what waits, if there is room again
  void lose(Connection* connection, const std::string& why);
  void transferred(const Connection* connection, uint64_t token, std::span<const std::byte> data) {
    moved_ = true;
    receiver_->transferred(connection->peer, token, data);
  }

  // Null: there is none yet, or no more.
  Connection* open_connection(int peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? nullptr : found->second.connection;
  }
  const auto& connections() const { return connections_; }
  ByteQueue& queue_of(Connection* connection) {
    return connection->state == State::open ? peers_[connection->peer].out : connection->out;
  }

  // a batch went or came last: asked first
  Connection* recent_ = nullptr;
  bool moved_ = false;  // in this poll something was received or lost

 private:
  struct Peer {
    Connection* connection = nullptr;  // that is open
    Connection* attempt = nullptr;     // of ours, that is not yet
    bool lost = false;
    ByteQueue out;  // frames that no open connection has taken
  };

  void send_both(int to, std::span<const std::byte> batch, std::span<const std::byte> end) final;
  bool send_now(int to, Peer* peer, Pieces pieces, size_t bytes, size_t* gone);
  void attempt(int to, Peer* peer);
  void close(Connection* connection);
  void lose(int rank, const std::string& why);
  template <class Message>
  bool take_one(Connection* connection,
                void (ConnectionFabric::*accept)(Connection*, const Message&));
  size_t take_frames(Connection* connection, std::span<const std::byte> bytes);
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
  std::vector<Connection*> closed_;     // freed at the end of a poll, as its events may name them
  std::vector<Connection*> strangers_;  // accepted and not proven, the oldest first
  Receiver* receiver_ = nullptr;        // during a poll
  Detour detour_;
  std::vector<std::pair<int, std::string>> lost_;  // outside of a poll, to be told in the next
};

}  // namespace nearcache::net
