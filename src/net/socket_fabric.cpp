#include "net/socket_fabric.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace nearcache::net {
namespace {

constexpr size_t least_read = 64 << 10;
constexpr int polls_between_looks = 8;  // of the one connection in use, until all are looked at

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

std::string system_error(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

void prepare(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

std::unique_ptr<SocketFabric> SocketFabric::open(int rank, const std::string& interface,
                                                 std::string* wrong) {
  std::unique_ptr<SocketFabric> fabric(new SocketFabric(rank));
  *wrong = fabric->listen_at(interface);
  return wrong->empty() ? std::move(fabric) : nullptr;
}

std::string SocketFabric::listen_at(const std::string& interface) {
  address_ = own_address(interface);
  if (address_.family == 0) return "no network interface '" + interface + "' with an address";
  listener_ = ::socket(address_.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_storage place;
  const socklen_t size = to_system(address_, &place);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&place), size) != 0 ||
      listen(listener_, 1024) != 0) {
    return system_error(("cannot listen at " + address_.text()).c_str());
  }
  set_port(listener_, &address_);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  doorbell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  pause_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  for (int* descriptor : {&listener_, &doorbell_, &pause_}) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = descriptor}};
    if (epoll_ < 0 || *descriptor < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, *descriptor, &event) != 0)
      return system_error("cannot watch sockets");
  }
  return {};
}

SocketFabric::~SocketFabric() {
  for (const auto& entry : connections_) ::close(entry.first->socket);
  for (const int descriptor : {listener_, doorbell_, pause_, epoll_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void SocketFabric::ring() {
  const uint64_t one = 1;
  // a full counter rings as well
  [[maybe_unused]] const ssize_t written = ::write(doorbell_, &one, sizeof one);
}

// Connections

SocketFabric::Connection* SocketFabric::watch(int socket, State state) {
  auto owned = std::make_unique<Connection>();
  Connection* connection = owned.get();
  connection->socket = socket;
  connection->state = state;
  connection->wants_to_write = state == State::connecting;
  epoll_event event{.events = EPOLLIN | (connection->wants_to_write ? EPOLLOUT : 0u),
                    .data = {.ptr = connection}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) != 0) return nullptr;
  connections_.emplace(connection, std::move(owned));
  return connection;
}

void SocketFabric::connect(int to, Peer* peer) {
  sockaddr_storage place;
  const SocketAddress& address = addresses_[static_cast<size_t>(to)];
  const socklen_t size = to_system(address, &place);
  const int socket = ::socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) prepare(socket);
  const bool begun =
      socket >= 0 &&
      (::connect(socket, reinterpret_cast<sockaddr*>(&place), size) == 0 || errno == EINPROGRESS);
  Connection* connection = begun ? watch(socket, State::connecting) : nullptr;
  if (connection == nullptr) {
    lose(to, system_error(("cannot connect to " + address.text()).c_str()));
    if (socket >= 0) ::close(socket);
    return;
  }
  connection->peer = to;
  peer->attempt = connection;
}

void SocketFabric::accept_all() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    // Where there is no descriptor for it, a connection stays in the listener's queue, and must
    // keep nobody awake there.
    if (socket < 0)
      return watch_listener(errno != EMFILE && errno != ENFILE && errno != ENOBUFS &&
                            errno != ENOMEM);
    prepare(socket);
    Connection* connection = watch(socket, State::awaits_hello);
    if (connection == nullptr) {
      ::close(socket);
      continue;
    }
    strangers_.push_back(connection);
    // Whoever connects and says nothing takes the place of others, not descriptors without end.
    if (strangers_.size() > 64 + 2 * addresses_.size()) close(strangers_.front());
  }
}

// If not wanted, then again after a pause.
void SocketFabric::watch_listener(bool wanted) {
  if (wanted == watches_listener_) return;
  watches_listener_ = wanted;
  epoll_event event{.events = wanted ? EPOLLIN : 0u, .data = {.ptr = &listener_}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_, &event);
  constexpr long pause_ns = 20000000;
  const itimerspec when{{}, {0, wanted ? 0 : pause_ns}};
  timerfd_settime(pause_, 0, &when, nullptr);
}

void SocketFabric::close(Connection* connection) {
  if (connection->state == State::closed) return;
  if (connection->state == State::awaits_hello || connection->state == State::awaits_answer)
    std::erase(strangers_, connection);
  connection->state = State::closed;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, connection->socket, nullptr);
  ::close(connection->socket);
  closed_.push_back(connection);
  if (recent_ == connection) recent_ = nullptr;
  const auto found = peers_.find(connection->peer);
  if (found == peers_.end()) return;
  if (found->second.connection == connection) found->second.connection = nullptr;
  if (found->second.attempt == connection) found->second.attempt = nullptr;
}

// A stranger loses no rank its connection, whoever it says it is.
void SocketFabric::lose(Connection* connection, const std::string& why) {
  const bool proven = connection->state == State::open || connection->state == State::connecting ||
                      connection->state == State::said_hello ||
                      connection->state == State::answered;
  const int peer = connection->peer;
  close(connection);
  if (proven) lose(peer, why);
}

void SocketFabric::lose(int rank, const std::string& why) {
  Peer& peer = peers_[rank];
  if (peer.lost) return;
  peer.lost = true;
  peer.out.consume(peer.out.bytes().size());
  moved_ = true;
  if (receiver_ != nullptr) {
    receiver_->lost(rank, why);
  } else {
    lost_.emplace_back(rank, why);
    ring();
  }
}

// Sending

void SocketFabric::send(int to, std::span<const std::byte> batch) {
  Peer& peer = peers_[to];
  if (peer.lost) return;
  const uint64_t length = batch.size();
  const auto head = std::as_bytes(std::span(&length, 1));
  size_t gone = 0;
  Connection* connection = peer.connection;
  if (connection != nullptr && peer.out.empty()) {
    iovec pieces[] = {{const_cast<std::byte*>(head.data()), head.size()},
                      {const_cast<std::byte*>(batch.data()), batch.size()}};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = 2;
    const ssize_t written = sendmsg(connection->socket, &message, MSG_NOSIGNAL);
    // Of a connection that broke, the next poll learns.
    if (written < 0 && !would_block()) return;
    gone = written > 0 ? static_cast<size_t>(written) : 0;
    recent_ = connection;
    if (gone == head.size() + batch.size()) return;
    want_to_write(connection, true);
  }
  peer.out.append(head.subspan(std::min(gone, head.size())));
  peer.out.append(batch.subspan(gone > head.size() ? gone - head.size() : 0));
  if (connection == nullptr && peer.attempt == nullptr) connect(to, &peer);
}

ByteQueue& SocketFabric::queue_of(Connection* connection) {
  return connection->state == State::open ? peers_[connection->peer].out : connection->out;
}

void SocketFabric::write(Connection* connection) {
  ByteQueue& queue = queue_of(connection);
  while (!queue.empty()) {
    const auto bytes = queue.bytes();
    const ssize_t written = ::send(connection->socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0) {
      if (would_block()) return want_to_write(connection, true);
      return;  // reading tells what is wrong
    }
    queue.consume(static_cast<size_t>(written));
  }
  want_to_write(connection, false);
}

void SocketFabric::want_to_write(Connection* connection, bool wanted) {
  if (connection->wants_to_write == wanted) return;
  connection->wants_to_write = wanted;
  epoll_event event{.events = EPOLLIN | (wanted ? EPOLLOUT : 0u), .data = {.ptr = connection}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection->socket, &event);
}

template <class Message>
void SocketFabric::say(Connection* connection, const Message& message) {
  connection->out.append(std::as_bytes(std::span(&message, 1)));
  write(connection);
}

// Receiving

bool SocketFabric::poll(Receiver& receiver) {
  receiver_ = &receiver;
  moved_ = false;
  for (auto& [rank, why] : std::exchange(lost_, {})) receiver.lost(rank, why), moved_ = true;
  if (recent_ != nullptr && ++polls_ % polls_between_looks != 0) {
    moved_ = read(recent_) || moved_;
  } else {
    look_at_all();
  }
  for (Connection* connection : std::exchange(closed_, {})) connections_.erase(connection);
  receiver_ = nullptr;
  return moved_;
}

void SocketFabric::look_at_all() {
  epoll_event events[64];
  const int count = epoll_wait(epoll_, events, 64, 0);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == &listener_) {
      accept_all();
    } else if (events[i].data.ptr == &pause_) {
      watch_listener(true);
    } else if (events[i].data.ptr == &doorbell_) {
      uint64_t rings;
      [[maybe_unused]] const ssize_t got = ::read(doorbell_, &rings, sizeof rings);
    } else if (handle(static_cast<Connection*>(events[i].data.ptr), events[i].events)) {
      moved_ = true;
    }
  }
}

bool SocketFabric::handle(Connection* connection, uint32_t events) {
  if (connection->state == State::connecting) {
    connected(connection);
  } else if ((events & EPOLLOUT) != 0 && connection->state != State::closed) {
    write(connection);
  }
  return connection->state != State::closed && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 &&
         read(connection);
}

void SocketFabric::connected(Connection* connection) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(connection->socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
    return lose(connection, "cannot connect to " +
                                addresses_[static_cast<size_t>(connection->peer)].text() + ": " +
                                std::strerror(error));
  }
  connection->hello = {Hello::our_format, rank_, connection->peer, random_word()};
  connection->state = State::said_hello;
  say(connection, connection->hello);
}

bool SocketFabric::read(Connection* connection) {
  bool any = false;
  for (;;) {
    const std::span<std::byte> room = connection->in.room(least_read);
    const ssize_t got = recv(connection->socket, room.data(), room.size(), 0);
    if (got < 0 && would_block()) return any;
    if (got <= 0)
      return lose(connection,
                  got == 0 ? "it closed the connection" : system_error("its connection broke")),
             true;
    connection->in.filled(static_cast<size_t>(got));
    any = take(connection) || any;
    if (connection->state == State::closed || static_cast<size_t>(got) < room.size()) return any;
  }
}

// Takes all messages that are complete. True if batches were among them.
bool SocketFabric::take(Connection* connection) {
  for (bool more = true; more;) {
    switch (connection->state) {
      case State::awaits_hello:
        more = take_one(connection, &SocketFabric::take_hello);
        break;
      case State::said_hello:
        more = take_one(connection, &SocketFabric::take_challenge);
        break;
      case State::awaits_answer:
        more = take_one(connection, &SocketFabric::take_answer);
        break;
      case State::answered:
        more = take_one(connection, &SocketFabric::take_verdict);
        break;
      case State::open:
        return take_frames(connection);
      default:
        return false;
    }
  }
  return false;
}

// False: it is not all there.
template <class Message>
bool SocketFabric::take_one(Connection* connection,
                            void (SocketFabric::*accept)(Connection*, const Message&)) {
  Message message;
  const auto bytes = connection->in.bytes();
  if (bytes.size() < sizeof message) return false;
  std::memcpy(&message, bytes.data(), sizeof message);
  connection->in.consume(sizeof message);
  (this->*accept)(connection, message);
  return true;
}

void SocketFabric::take_hello(Connection* connection, const Hello& hello) {
  if (hello.format != Hello::our_format || hello.to != rank_ || hello.from == rank_ ||
      hello.from < 0 || hello.from >= ranks())
    return close(connection);
  connection->hello = hello;
  connection->peer = hello.from;
  connection->challenge = random_word();
  connection->state = State::awaits_answer;
  say(connection, Challenge{connection->challenge, acceptor_proof(secret_, hello)});
}

void SocketFabric::take_challenge(Connection* connection, const Challenge& challenge) {
  if (challenge.proof != acceptor_proof(secret_, connection->hello))
    return lose(connection, "who listens at its address does not know this job's secret");
  connection->state = State::answered;
  say(connection, Answer{initiator_proof(secret_, connection->hello, challenge.nonce)});
}

void SocketFabric::take_answer(Connection* connection, const Answer& answer) {
  if (answer.proof != initiator_proof(secret_, connection->hello, connection->challenge))
    return close(connection);
  Peer& peer = peers_[connection->peer];
  if (peer.lost || peer.connection != nullptr ||
      (peer.attempt != nullptr && !crossing_wins(rank_, connection->peer))) {
    say(connection, Verdict::turned_away);
    return close(connection);
  }
  if (peer.attempt != nullptr) close(peer.attempt);
  say(connection, Verdict::welcome);
  std::erase(strangers_, connection);
  opened(connection);
}

void SocketFabric::take_verdict(Connection* connection, const Verdict& verdict) {
  Peer& peer = peers_[connection->peer];
  if (verdict == Verdict::welcome && peer.connection == nullptr) {
    peer.attempt = nullptr;
    return opened(connection);
  }
  if (verdict != Verdict::turned_away) return lose(connection, "it broke the protocol");
  close(connection);  // theirs is under way
}

void SocketFabric::opened(Connection* connection) {
  Peer& peer = peers_[connection->peer];
  // What remains of the handshake goes before the frames.
  std::swap(peer.out, connection->out);
  peer.out.append(connection->out.bytes());
  connection->out.consume(connection->out.bytes().size());
  peer.connection = connection;
  connection->state = State::open;
  write(connection);
}

bool SocketFabric::take_frames(Connection* connection) {
  bool any = false;
  for (;;) {
    const auto bytes = connection->in.bytes();
    uint64_t length;
    if (bytes.size() < sizeof length) return any;
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length == 0 || length > largest_batch()) {
      lose(connection, "it sent a frame of " + std::to_string(length) + " bytes; 1 to " +
                           std::to_string(largest_batch()) + " are allowed");
      return true;
    }
    if (bytes.size() < sizeof length + length) return any;
    recent_ = connection;
    receiver_->received(connection->peer, bytes.subspan(sizeof length, length));
    any = true;
    if (connection->state == State::closed) return any;
    connection->in.consume(sizeof length + length);
  }
}

}  // namespace nearcache::net
