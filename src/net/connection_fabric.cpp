// SPDX-License-Identifier: BSD-3-Clause
#include "net/connection_fabric.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace nearcache::net {
namespace {

// Copying so few bytes takes less time than the system needs for two more pieces.
constexpr size_t little = 512;

std::byte* append(std::byte* to, std::span<const std::byte> bytes) {
  return std::ranges::copy(bytes, to).out;
}

}  // namespace

// Connections

ConnectionFabric::Connection* ConnectionFabric::add(std::unique_ptr<Connection> connection) {
  Connection* const key = connection.get();
  connections_.emplace(key, std::move(connection));
  return key;
}

// Returns false if no connection can be begun now, and why.
bool ConnectionFabric::attempt(int to, Peer* peer, std::string* wrong) {
  peer->attempt = connect(to, wrong);
  if (peer->attempt != nullptr) peer->attempt->peer = to;
  return peer->attempt != nullptr;
}

void ConnectionFabric::connected(Connection* connection) {
  connection->hello = {Hello::our_format, rank_, connection->peer, random_word()};
  connection->state = State::said_hello;
  say(connection, connection->hello);
}

void ConnectionFabric::accepted(Connection* connection) {
  connection->state = State::awaits_hello;
  strangers_.push_back(connection);
  // Clients that connect and say nothing displace each other; they do not use up descriptors.
  if (strangers_.size() > 64 + 2 * static_cast<size_t>(ranks_)) close(strangers_.front());
}

void ConnectionFabric::close(Connection* connection) {
  if (connection->state == State::closed) return;
  if (connection->state == State::awaits_hello || connection->state == State::awaits_answer ||
      connection->state == State::turned_away)
    std::erase(strangers_, connection);
  connection->state = State::closed;
  hang_up(connection);
  closed_.push_back(connection);
  if (recent_ == connection) recent_ = nullptr;
  const auto found = peers_.find(connection->peer);
  if (found == peers_.end()) return;
  if (found->second.connection == connection) found->second.connection = nullptr;
  if (found->second.attempt == connection) found->second.attempt = nullptr;
}

// If no connection can be begun now, as without a free descriptor, the rank is not lost for that:
// it may yet begin one.
void ConnectionFabric::watch_peer(int rank) {
  Peer& peer = peers_[rank];
  if (peer.lost || peer.connection != nullptr || peer.attempt != nullptr) return;
  std::string wrong;
  attempt(rank, &peer, &wrong);
}

void ConnectionFabric::forget(int rank) {
  Peer& peer = peers_[rank];
  if (std::exchange(peer.lost, true)) return;
  peer.out.consume(peer.out.bytes().size());
  for (Connection* const each : {peer.connection, peer.attempt}) {
    if (each != nullptr) close(each);
  }
}

// If an unauthenticated connection fails, no rank is lost, whichever the other end claims to be.
void ConnectionFabric::lose(Connection* connection, const std::string& why) {
  const bool proven = connection->state == State::open || connection->state == State::connecting ||
                      connection->state == State::said_hello ||
                      connection->state == State::answered;
  const int peer = connection->peer;
  close(connection);
  if (proven) lose(peer, why);
}

void ConnectionFabric::lose(int rank, const std::string& why) {
  Peer& peer = peers_[rank];
  if (peer.lost) return;
  peer.lost = true;
  peer.out.consume(peer.out.bytes().size());
  lost_.emplace_back(rank, why);
  if (receiver_ == nullptr) ring();
}

// Not while something is being sent or taken, as that may be what a loss takes away.
void ConnectionFabric::tell_losses() {
  while (!lost_.empty()) {
    for (const auto& [rank, why] : std::exchange(lost_, {})) receiver_->lost(rank, why);
    moved_ = true;
  }
}

// Sending

// Returns true if everything was sent, or the rank is lost. Otherwise `gone` is the number of bytes
// sent.
bool ConnectionFabric::send_now(int to, Peer* peer, Pieces pieces, size_t bytes, size_t* gone) {
  *gone = 0;
  if (peer->lost) return true;
  Connection* const connection = peer->connection;
  if (connection != nullptr && peer->out.empty()) {
    *gone = give(connection, pieces);
    recent_ = connection;
    if (*gone == bytes) return true;
    want_to_write(connection, true);
  }
  std::string wrong;
  if (connection == nullptr && peer->attempt == nullptr && !attempt(to, peer, &wrong))
    lose(to, wrong);
  return peer->lost;
}

void ConnectionFabric::send_both(int to, std::span<const std::byte> batch,
                                 std::span<const std::byte> end) {
  const uint64_t length = batch.size() + end.size();
  const auto head = std::as_bytes(std::span(&length, 1));
  if (length > little) {
    const std::span<const std::byte> pieces[] = {head, batch, end};
    return send_pieces(to, pieces, frame_head + length);
  }
  std::array<std::byte, frame_head + little> frame;
  append(append(append(frame.data(), head), batch), end);
  const std::span<const std::byte> piece(frame.data(), frame_head + length);
  send_pieces(to, {&piece, 1}, piece.size());
}

void ConnectionFabric::send_pieces(int to, Pieces pieces, size_t bytes) {
  Peer& peer = peers_[to];
  size_t gone;
  if (send_now(to, &peer, pieces, bytes, &gone)) return;
  for (const auto piece : pieces) {
    const size_t of_this = std::min(gone, piece.size());
    peer.out.append(piece.subspan(of_this));
    gone -= of_this;
  }
}

// The system takes the data directly from where it is, as far as it is there. Data that waits for
// room is copied, also by the system, so that missing memory raises no signal.
void ConnectionFabric::send_unsure(int to, std::span<const std::byte> batch,
                                   std::span<const std::byte> data, Ending ending) {
  Peer& peer = peers_[to];
  const uint64_t length = batch.size() + data.size() + sizeof ending.missing;
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(&length, 1)), batch, data,
                                               std::as_bytes(std::span(&ending.all_there, 1))};
  size_t gone;
  if (send_now(to, &peer, pieces, frame_head + length, &gone)) return;
  for (const auto piece : {pieces[0], pieces[1]}) {
    const size_t of_this = std::min(gone, piece.size());
    peer.out.append(piece.subspan(of_this));
    gone -= of_this;
  }
  bool there = true;
  for (size_t at = std::min(gone, data.size()); at < data.size();) {
    const size_t now = std::min(data.size() - at, Detour::bytes);
    const iovec run{const_cast<std::byte*>(data.data()) + at, now};
    const size_t copied = there ? detour_.take({&run, 1}) : 0;
    there = copied == now;
    std::memset(detour_.buffer() + copied, 0, now - copied);
    peer.out.append({detour_.buffer(), now});
    at += now;
  }
  gone -= std::min(gone, data.size());
  const uint64_t word = there ? ending.all_there : ending.missing;
  peer.out.append(std::as_bytes(std::span(&word, 1)).subspan(gone));
}

void ConnectionFabric::write(Connection* connection) {
  ByteQueue& queue = queue_of(connection);
  while (!queue.empty()) {
    const auto bytes = queue.bytes();
    const size_t gone = give(connection, {&bytes, 1});
    if (gone == 0) return want_to_write(connection, true);
    queue.consume(gone);
  }
  want_to_write(connection, false);
}

template <class Message>
void ConnectionFabric::say(Connection* connection, const Message& message) {
  connection->out.append(std::as_bytes(std::span(&message, 1)));
  write(connection);
}

// Receiving

bool ConnectionFabric::poll(Receiver& receiver) {
  receiver_ = &receiver;
  moved_ = false;
  tell_losses();
  look();
  tell_losses();
  for (Connection* connection : std::exchange(closed_, {})) connections_.erase(connection);
  receiver_ = nullptr;
  return moved_;
}

// Delivers complete frames without copying them to `in`.
void ConnectionFabric::arrived(Connection* connection, std::span<const std::byte> bytes) {
  if (connection->state == State::open && connection->in.empty())
    bytes = bytes.subspan(take_frames(connection, bytes));
  if (connection->state == State::closed || bytes.empty()) return;
  connection->in.append(bytes);
  take(connection);
}

// Processes all complete messages.
void ConnectionFabric::take(Connection* connection) {
  for (bool more = true; more;) {
    switch (connection->state) {
      case State::awaits_hello:
        more = take_one(connection, &ConnectionFabric::take_hello);
        break;
      case State::said_hello:
        more = take_one(connection, &ConnectionFabric::take_challenge);
        break;
      case State::awaits_answer:
        more = take_one(connection, &ConnectionFabric::take_answer);
        break;
      case State::answered:
        more = take_one(connection, &ConnectionFabric::take_verdict);
        break;
      case State::open:
        return connection->in.consume(take_frames(connection, connection->in.bytes()));
      case State::turned_away:  // nothing that keeps the protocol comes after the verdict
        if (!connection->in.empty()) close(connection);
        return;
      default:
        return;
    }
  }
}

// Returns false if the message is not complete yet.
template <class Message>
bool ConnectionFabric::take_one(Connection* connection,
                                void (ConnectionFabric::*accept)(Connection*, const Message&)) {
  Message message;
  const auto bytes = connection->in.bytes();
  if (bytes.size() < sizeof message) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  connection->in.consume(sizeof message);
  (this->*accept)(connection, message);
  return true;
}

void ConnectionFabric::take_hello(Connection* connection, const Hello& hello) {
  if (hello.format != Hello::our_format || hello.to != rank_ || hello.from == rank_ ||
      hello.from < 0 || hello.from >= ranks())
    return close(connection);
  connection->hello = hello;
  connection->peer = hello.from;
  connection->challenge = random_word();
  connection->state = State::awaits_answer;
  say(connection, Challenge{connection->challenge, acceptor_proof(secret_, hello)});
}

void ConnectionFabric::take_challenge(Connection* connection, const Challenge& challenge) {
  if (challenge.proof != acceptor_proof(secret_, connection->hello))
    return lose(connection, "whoever listens at its address does not know this job's secret");
  connection->state = State::answered;
  say(connection, Answer{initiator_proof(secret_, connection->hello, challenge.nonce)});
}

void ConnectionFabric::take_answer(Connection* connection, const Answer& answer) {
  if (answer.proof != initiator_proof(secret_, connection->hello, connection->challenge))
    return close(connection);
  Peer& peer = peers_[connection->peer];
  if (peer.lost) return close(connection);  // no verdict: the other end gives this rank up, too
  // An attempt of which the other end has heard nothing yet does not cross theirs, and may never
  // succeed.
  const bool crosses = peer.attempt != nullptr && peer.attempt->state != State::connecting;
  if (peer.connection != nullptr || (crosses && !crossing_wins(rank_, connection->peer))) {
    // Not closed here: that might overtake the verdict.
    connection->state = State::turned_away;
    return say(connection, Verdict::turned_away);
  }
  if (peer.attempt != nullptr) close(peer.attempt);
  say(connection, Verdict::welcome);
  std::erase(strangers_, connection);
  opened(connection);
}

void ConnectionFabric::take_verdict(Connection* connection, const Verdict& verdict) {
  Peer& peer = peers_[connection->peer];
  if (verdict == Verdict::welcome && peer.connection == nullptr) {
    peer.attempt = nullptr;
    return opened(connection);
  }
  if (verdict != Verdict::turned_away) return lose(connection, "it broke the protocol");
  close(connection);  // the connection that they began is under way
}

void ConnectionFabric::opened(Connection* connection) {
  Peer& peer = peers_[connection->peer];
  // What remains of the handshake is sent before the frames.
  std::swap(peer.out, connection->out);
  peer.out.append(connection->out.bytes());
  connection->out.consume(connection->out.bytes().size());
  peer.connection = connection;
  connection->state = State::open;
  write(connection);
}

bool ConnectionFabric::sound(Connection* connection, uint64_t length) {
  if (length > 0 && length <= largest_batch()) return true;
  lose(connection, "it sent a frame of " + std::to_string(length) + " bytes; 1 to " +
                       std::to_string(largest_batch()) + " are allowed");
  return false;
}

// Returns the number of bytes taken.
size_t ConnectionFabric::take_frames(Connection* connection, std::span<const std::byte> bytes) {
  size_t taken = 0;
  if (connection->apart.body > 0) {
    taken = take_apart(connection, bytes);
    if (connection->apart.body > 0 || connection->state == State::closed) return taken;
  }
  for (;;) {
    const auto rest = bytes.subspan(taken);
    uint64_t length;
    if (rest.size() < frame_head) return taken;
    std::memcpy(&length, rest.data(), sizeof length);
    if (!sound(connection, length) || rest.size() < frame_head + length) return taken;
    recent_ = connection;
    moved_ = true;
    learn(connection, rest.subspan(frame_head, length));
    receiver_->received(connection->peer, rest.subspan(frame_head, length));
    if (connection->state == State::closed) return taken;
    taken += frame_head + length;
  }
}

// From a batch received whole.
void ConnectionFabric::learn(Connection* connection, std::span<const std::byte> batch) {
  const size_t frame = frame_head + batch.size();
  if (frame > small_frame) {
    const Place place =
        receiver_->body(connection->peer, batch.first(Receiver::head_bytes), batch.size());
    connection->next = place.bytes > 0 ? Next::apart : Next::whole;
  } else if (frame > both_heads && connection->next == Next::apart) {
    connection->next = Next::small;
  }
}

bool ConnectionFabric::begin_apart(Connection* connection, const Place* only) {
  const auto bytes = connection->in.bytes();
  Apart& apart = connection->apart;
  uint64_t length;
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto head = bytes.subspan(frame_head, apart.head.size());
  if (length < head.size() || length > largest_batch()) return false;
  const Place place = receiver_->body(connection->peer, head, length);
  if (place.bytes == 0 || place.bytes > length - head.size() ||
      (only != nullptr && (place.memory != only->memory || place.bytes != only->bytes)))
    return false;
  std::ranges::copy(head, apart.head.begin());
  apart.batch = length, apart.body = place.bytes, apart.come = 0, apart.in_place = true;
  connection->next = Next::apart;
  return true;
}

void ConnectionFabric::move_begun(Connection* connection) {
  Apart& apart = connection->apart;
  connection->in.consume(both_heads);
  const auto bytes = connection->in.bytes();
  const size_t here = std::min(bytes.size(), apart.body);
  const Place place = receiver_->body(connection->peer, apart.head, apart.batch);
  apart.in_place = place.memory != nullptr && place.bytes == apart.body;
  for (size_t at = 0; at < here && apart.in_place; at += Detour::bytes) {
    const size_t now = std::min(here - at, Detour::bytes);
    std::ranges::copy(bytes.subspan(at, now), detour_.buffer());
    const iovec run{place.memory + at, now};
    apart.in_place = detour_.give({&run, 1}) == now;
  }
  apart.come = here;
  connection->in.consume(here);
}

// Takes what follows the body, once all of it has arrived. Returns the number of bytes taken.
size_t ConnectionFabric::take_apart(Connection* connection, std::span<const std::byte> bytes) {
  Apart& apart = connection->apart;
  const size_t end = apart.batch - apart.head.size() - apart.body;
  if (apart.come < apart.body || bytes.size() < end) return 0;
  apart.body = 0;
  recent_ = connection;
  moved_ = true;
  receiver_->received_apart(connection->peer, apart.head, bytes.first(end), apart.in_place);
  return end;
}

}  // namespace nearcache::net
