// SPDX-License-Identifier: BSD-3-Clause
#include "net/socket_fabric.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "base/log.h"

namespace nearcache::net {
namespace {

constexpr size_t least_read = 64 << 10;
// From one connection in a poll: others get their turn, and threads that want the caller's lock.
constexpr int most_reads = 16;
constexpr size_t enough_read = 1 << 20;
constexpr int polls_between_looks = 8;  // polls of the connection in use, until all are polled
constexpr int times_to_separate = 32;

// The agent has opened it, and the program has no descriptor for it.
constexpr const char* out_of_reach = "no descriptor is left for its connection";

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
  for (const auto& entry : connections()) {
    if (reaches(wire(entry.first))) ::close(wire(entry.first)->socket);
  }
  for (const int descriptor : {listener_, doorbell_, pause_, agents_set_, epoll_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void SocketFabric::ring() {
  const uint64_t one = 1;
  // if the counter is full, the doorbell is readable anyway
  [[maybe_unused]] const ssize_t written = ::write(doorbell_, &one, sizeof one);
}

// The separate connection

void SocketFabric::use_set(int epoll) {
  watch_together();
  set_ = epoll;
}

bool SocketFabric::watch_separate(bool wanted) {
  if (wanted && set_ >= 0 && recent_ != nullptr && reaches(wire(recent_))) {
    times_ = recent_ == candidate_ ? std::min(times_ + 1, times_to_separate) : 1;
    candidate_ = recent_;
    if (times_ == times_to_separate && recent_ != separate_) separate(wire(recent_));
  }
  if (separate_ == nullptr) return false;
  if (!reaches(separate_)) {
    if (wanted) ring();  // the agent looks, and has its set tell of it again
  } else if (std::exchange(separate_watched_, wanted) != wanted) {
    tell_set(EPOLL_CTL_MOD);
  }
  return true;
}

// Sets what the caller's set tells of the separate connection.
bool SocketFabric::tell_set(int change) {
  epoll_event event{.events = separate_watched_ ? EPOLLIN : 0u, .data = {.fd = separate_->socket}};
  return epoll_ctl(set_, change, separate_->socket, &event) == 0;
}

void SocketFabric::separate(Wire* connection) {
  watch_together();
  if (separate_ != nullptr) return;
  separate_ = connection;
  separate_watched_ = false;
  if (!tell_set(EPOLL_CTL_ADD))
    separate_ = nullptr;
  else
    tell_events(connection);
}

void SocketFabric::watch_together() {
  times_ = 0;
  if (separate_ == nullptr || !reaches(separate_)) return;
  Wire* const connection = std::exchange(separate_, nullptr);
  epoll_ctl(set_, EPOLL_CTL_DEL, connection->socket, nullptr);
  tell_events(connection);
}

// Whoever was woken by the wait descriptor looks at all connections, because it is seldom the one
// in use.
void SocketFabric::woken(int descriptor) {
  if (separate_ == nullptr || recent_ != separate_ || descriptor != separate_->socket) polls_ = -1;
}

// Two tables of descriptors

bool SocketFabric::use_tables(DescriptorTables* tables, std::vector<int>* kept) {
  tables_ = tables;
  if (tables == nullptr) return have_one_table(), true;
  agents_set_ = epoll_create1(EPOLL_CLOEXEC);
  if (agents_set_ < 0 || !tell_agents_set(EPOLL_CTL_ADD, true)) return false;
  kept->insert(kept->end(),
               {listener_, doorbell_, pause_, agents_set_, epoll_, detour().prepare()});
  for (const auto& entry : connections()) changed_.push_back(wire(entry.first)->socket);
  return true;
}

// The agent has ended, and with it what was only the agent's.
void SocketFabric::have_one_table() {
  for (std::vector<int>* each : {&changed_, &given_up_, &closed_by_agent_}) each->clear();
  for (Wire* const each : std::exchange(agents_, {})) {
    each->only_agents = false;
    each->socket = -1;
    lose(each, out_of_reach);
  }
  if (agents_set_ < 0) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, agents_set_, nullptr);
  ::close(std::exchange(agents_set_, -1));
}

void SocketFabric::settle() { is_agents() ? mirror() : adopt(); }

// While the program has adopted connections that the agent has not taken out of its set yet, that
// set must not wake threads of the program.
bool SocketFabric::tell_agents_set(int change, bool wanted) {
  epoll_event event{.events = wanted ? EPOLLIN : 0u, .data = {.ptr = &agents_set_}};
  return epoll_ctl(epoll_, change, agents_set_, &event) == 0;
}

// The program's side.
void SocketFabric::adopt() {
  for (const int number : std::exchange(closed_by_agent_, {})) ::close(number);
  if (agents_.empty()) return;
  std::erase_if(agents_, [this](Wire* each) { return adopt(each); });
  tables_->leave_to_other();
  tell_agents_set(EPOLL_CTL_MOD, !agents_.empty());
  if (agents_.empty()) return;
  tables_->leave_for_later();
  tell_of_waiting();
}

// Without a free descriptor the connection remains the agent's, and is tried again.
bool SocketFabric::adopt(Wire* connection) {
  const int socket = tables_->fetch(connection->socket);
  if (socket < 0) return false;
  const int agents = std::exchange(connection->socket, socket);
  connection->only_agents = false;
  if (!tell(EPOLL_CTL_ADD, connection) || (connection == separate_ && !tell_set(EPOLL_CTL_ADD))) {
    epoll_ctl(epoll_, EPOLL_CTL_DEL, socket, nullptr);
    ::close(std::exchange(connection->socket, agents));
    connection->only_agents = true;
    return false;
  }
  given_up_.push_back(agents);
  changed_.push_back(socket);
  return true;
}

// The program had something to send on connections that it could not adopt.
void SocketFabric::lose_unreachable() {
  if (is_agents()) return;
  const std::vector<Wire*> all = agents_;
  for (Wire* const each : all) {
    if (each->send_error != 0) lose(each, out_of_reach);
  }
}

// The agent's side.
void SocketFabric::mirror() {
  for (const int number : std::exchange(given_up_, {})) {
    for (const int set : {agents_set_, set_}) epoll_ctl(set, EPOLL_CTL_DEL, number, nullptr);
    ::close(number);
  }
  std::unordered_set<int> used, agents;
  for (const auto& entry : connections()) {
    const Wire* const each = wire(entry.first);
    (each->only_agents ? agents : used).insert(each->socket);
  }
  for (const int number : std::exchange(changed_, {})) {
    if (used.contains(number))
      fetch_as(number);
    else if (!agents.contains(number))
      ::close(number);
  }
  tell_agents_set(EPOLL_CTL_MOD, true);
}

// If that fails, the connection breaks when it is used.
void SocketFabric::fetch_as(int number) {
  const auto found = std::ranges::find(agents_, number, &Wire::socket);
  if (found != agents_.end()) move_away(*found);
  const int fetched = tables_->fetch(number);
  if (fetched == number) return;
  ::close(number);
  if (fetched < 0) return;
  dup3(fetched, number, O_CLOEXEC);
  ::close(fetched);
}

void SocketFabric::move_away(Wire* connection) {
  if (connection == separate_) watch_together();
  const int before = connection->socket;
  const int to = fcntl(before, F_DUPFD_CLOEXEC, before + 1);
  if (to < 0) return lose(connection, out_of_reach);
  epoll_ctl(agents_set_, EPOLL_CTL_DEL, before, nullptr);
  ::close(std::exchange(connection->socket, to));
  tell(EPOLL_CTL_ADD, connection);
}

// Closes a connection that the other side may have, too. The other end is to notice at once.
void SocketFabric::release(Wire* connection) {
  const int socket = std::exchange(connection->socket, -1);
  tables_->leave_to_other();
  if (connection->only_agents) {
    std::erase(agents_, connection);
    if (!is_agents()) return given_up_.push_back(socket);
  }
  epoll_ctl(set_of(connection), EPOLL_CTL_DEL, socket, nullptr);
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  if (!connection->only_agents) (is_agents() ? closed_by_agent_ : changed_).push_back(socket);
}

// Connections

// Sets what the wait descriptor tells of a connection.
void SocketFabric::tell_events(Wire* connection) { tell(EPOLL_CTL_MOD, connection); }

bool SocketFabric::tell(int change, Wire* connection) {
  epoll_event event{.events = (connection == separate_ ? 0u : EPOLLIN) |
                              (connection->wants_to_write ? EPOLLOUT : 0u),
                    .data = {.ptr = static_cast<Connection*>(connection)}};
  return epoll_ctl(set_of(connection), change, connection->socket, &event) == 0;
}

SocketFabric::Wire* SocketFabric::watch(int socket, bool connects) {
  auto owned = std::make_unique<Wire>();
  Wire* const connection = owned.get();
  connection->socket = socket;
  connection->wants_to_write = connects;
  connection->only_agents = is_agents();
  if (!tell(EPOLL_CTL_ADD, connection)) return nullptr;
  add(std::move(owned));
  if (has_two_tables()) {
    if (connection->only_agents)
      agents_.push_back(connection);
    else
      changed_.push_back(socket);
    tables_->leave_to_other();
  }
  return connection;
}

ConnectionFabric::Connection* SocketFabric::connect(int to, std::string* wrong) {
  sockaddr_storage place;
  const SocketAddress& address = addresses_[static_cast<size_t>(to)];
  const socklen_t size = to_system(address, &place);
  const int socket = ::socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket >= 0) prepare(socket);
  const bool begun =
      socket >= 0 &&
      (::connect(socket, reinterpret_cast<sockaddr*>(&place), size) == 0 || errno == EINPROGRESS);
  Connection* const connection = begun ? watch(socket, true) : nullptr;
  if (connection == nullptr) {
    *wrong = system_error(("cannot connect to " + address.text()).c_str());
    if (socket >= 0) ::close(socket);
  }
  return connection;
}

void SocketFabric::accept_all() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    // Without a free descriptor, the connection stays in the listener's queue, and must not keep
    // waking threads from there.
    if (socket < 0) {
      const bool waits = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (waits) tell_of_waiting();
      return watch_listener(!waits);
    }
    prepare(socket);
    Connection* const connection = watch(socket, false);
    if (connection == nullptr) {
      ::close(socket);
      continue;
    }
    accepted(connection);
  }
}

// Called when the system has refused a descriptor.
void SocketFabric::tell_of_waiting() {
  if (std::exchange(told_of_waiting_, true)) return;
  log(LogLevel::warning, "rank %d: a connection of another rank waits: %s", rank(),
      std::strerror(errno));
}

// A listener that is no longer watched is watched again after a pause.
void SocketFabric::watch_listener(bool wanted) {
  if (wanted == watches_listener_) return;
  watches_listener_ = wanted;
  epoll_event event{.events = wanted ? EPOLLIN : 0u, .data = {.ptr = &listener_}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, listener_, &event);
  constexpr long pause_ns = 20000000;
  const itimerspec when{{}, {0, wanted ? 0 : pause_ns}};
  timerfd_settime(pause_, 0, &when, nullptr);
}

void SocketFabric::hang_up(Connection* connection) {
  if (connection == separate_) watch_together();
  Wire* const closed = wire(connection);
  if (has_two_tables()) return release(closed);
  epoll_ctl(epoll_, EPOLL_CTL_DEL, closed->socket, nullptr);
  ::close(std::exchange(closed->socket, -1));
}

// Sending

size_t SocketFabric::give(Connection* connection, Pieces pieces) {
  iovec vector[most_pieces];
  size_t all = 0;
  msghdr message{};
  message.msg_iov = vector;
  for (const auto piece : pieces) {
    vector[message.msg_iovlen++] = {const_cast<std::byte*>(piece.data()), piece.size()};
    all += piece.size();
  }
  if (!reaches(wire(connection))) {
    wire(connection)->send_error = EMFILE;
    ring();  // see lose_unreachable()
    return all;
  }
  const int socket = wire(connection)->socket;
  const ssize_t written = message.msg_iovlen == 1
                              ? ::send(socket, vector->iov_base, vector->iov_len, MSG_NOSIGNAL)
                              : sendmsg(socket, &message, MSG_NOSIGNAL);
  if (written >= 0) return static_cast<size_t>(written);
  if (would_block() || errno == EFAULT) return 0;
  // Later ones fail because of the shutdown.
  if (int& error = wire(connection)->send_error; error == 0) error = errno;
  ::shutdown(socket, SHUT_RDWR);  // the next read finds the end
  return all;
}

void SocketFabric::want_to_write(Connection* connection, bool wanted) {
  if (wire(connection)->wants_to_write == wanted) return;
  wire(connection)->wants_to_write = wanted;
  tell_events(wire(connection));
}

// Receiving

void SocketFabric::look() {
  receives_ = false;
  if (!agents_.empty()) [[unlikely]]
    lose_unreachable();
  if (recent_ != nullptr && ++polls_ % polls_between_looks != 0 && reaches(wire(recent_))) {
    read(recent_);
  } else {
    look_at(epoll_);
    if (separate_ != nullptr && reaches(separate_)) read(separate_);
  }
}

void SocketFabric::look_at(int set) {
  epoll_event events[64];
  const int count = epoll_wait(set, events, 64, 0);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.ptr == &listener_) {
      accept_all();
    } else if (events[i].data.ptr == &pause_) {
      watch_listener(true);
    } else if (events[i].data.ptr == &agents_set_) {
      if (is_agents()) look_at(agents_set_);
    } else if (events[i].data.ptr == &doorbell_) {
      uint64_t rings;
      [[maybe_unused]] const ssize_t got = ::read(doorbell_, &rings, sizeof rings);
    } else {
      handle(static_cast<Connection*>(events[i].data.ptr), events[i].events);
    }
  }
}

void SocketFabric::handle(Connection* connection, uint32_t events) {
  if (connection->state == State::connecting) {
    finish_connecting(connection);
  } else if ((events & EPOLLOUT) != 0 && connection->state != State::closed) {
    write(connection);
  }
  if (connection->state != State::closed && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
    read(connection);
}

void SocketFabric::finish_connecting(Connection* connection) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(wire(connection)->socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0 ||
      error != 0) {
    return lose(connection, "cannot connect to " +
                                addresses_[static_cast<size_t>(connection->peer)].text() + ": " +
                                std::strerror(error));
  }
  connected(connection);
}

void SocketFabric::read(Connection* connection) {
  came_ = 0;
  for (int reads = 0; reads < most_reads && came_ < enough_read && read_more(connection); ++reads) {
  }
}

// Returns true if there may be more to read.
bool SocketFabric::read_more(Connection* connection) {
  if (connection->state == State::open) {
    const Apart& apart = connection->apart;
    if (apart.come < apart.body) return read_body(connection);
    if (apart.body == 0 && connection->in.empty()) {
      const Place place = receiver().expected_body(connection->peer);
      if (place.bytes > 0 && place.memory != nullptr) return read_expected(connection, place);
    }
  }
  return read_some(connection);
}

bool SocketFabric::came(Connection* connection, ssize_t got) {
  if (got > 0) {
    came_ += static_cast<size_t>(got);
    return receives_ = true;
  }
  if (got == 0) {
    errno = wire(connection)->send_error;
    lose(connection,
         errno != 0 ? system_error("sending to it failed") : "it closed the connection");
  }
  if (got < 0 && !would_block()) lose(connection, system_error("its connection broke"));
  return false;
}

// Processes the bytes added to `in`.
void SocketFabric::take_read(Connection* connection) {
  take(connection);
  if (connection->state == State::open && connection->apart.body == 0 &&
      connection->in.bytes().size() >= both_heads && begin_apart(connection))
    move_begun(connection);
}

// If a frame has begun, reads no further than the heads of the next one, whose body may have its
// own destination. If none has, reads little, or only heads, unless large frames have no such body.
bool SocketFabric::read_some(Connection* connection) {
  std::span<std::byte> room = connection->in.room(least_read);
  const auto begun = connection->in.bytes();
  if (connection->state == State::open) {
    size_t most = connection->next == Next::apart   ? both_heads
                  : connection->next == Next::small ? small_frame
                                                    : least_read;
    if (uint64_t length; connection->apart.body == 0 && begun.size() >= sizeof length) {
      std::memcpy(&length, begun.data(), sizeof length);
      most = frame_head + length - begun.size() + both_heads;
    }
    room = room.first(std::min(most, room.size()));
  }
  const ssize_t got = recv(wire(connection)->socket, room.data(), room.size(), 0);
  if (!came(connection, got)) return false;
  connection->in.filled(static_cast<size_t>(got));
  take_read(connection);
  return connection->state != State::closed && static_cast<size_t>(got) == room.size();
}

// Reads as if the expected batch came next. If it does not, the bytes written to that batch's
// destination are added to `in`, where they belong.
bool SocketFabric::read_expected(Connection* connection, Place place) {
  std::byte* const room = connection->in.room(2 * both_heads).data();
  iovec runs[] = {{room, both_heads}, {place.memory, place.bytes}, {room + both_heads, both_heads}};
  const ssize_t received = readv(wire(connection)->socket, runs, 3);
  if (received < 0 && errno == EFAULT) return read_some(connection);
  if (!came(connection, received)) return false;
  const auto got = static_cast<size_t>(received), beyond = got - std::min(got, both_heads),
             there = std::min(beyond, place.bytes), after = beyond - there;
  connection->in.filled(got - beyond);
  if (beyond == 0 || begin_apart(connection, &place)) {
    connection->in.filled(after);
    if (beyond > 0) connection->in.consume(both_heads);
    connection->apart.come = there;
  } else {
    std::array<std::byte, both_heads> end;
    std::copy_n(room + both_heads, after, end.begin());
    connection->in.append({place.memory, there});
    connection->in.append(std::span(end).first(after));
  }
  take_read(connection);
  return connection->state != State::closed && got == both_heads + place.bytes + both_heads;
}

bool SocketFabric::read_body(Connection* connection) {
  Apart& apart = connection->apart;
  const Place place = receiver().body(connection->peer, apart.head, apart.batch);
  if (place.memory == nullptr || place.bytes != apart.body) apart.in_place = false;
  const std::span<std::byte> room = connection->in.room(least_read);
  const size_t left = apart.body - apart.come,
               end = apart.batch - apart.head.size() - apart.body + both_heads;
  iovec runs[] = {{room.data(), std::min(left, room.size())}, {nullptr, 0}};
  if (apart.in_place) {
    runs[0] = {place.memory + apart.come, left};
    runs[1] = {room.data(), std::min(end, room.size())};
  }
  const ssize_t received = readv(wire(connection)->socket, runs, 2);
  if (received < 0 && errno == EFAULT && apart.in_place) {
    apart.in_place = false;
    return true;
  }
  if (!came(connection, received)) return false;
  const auto got = static_cast<size_t>(received), of_body = std::min(got, left);
  apart.come += of_body;
  connection->in.filled(got - of_body);
  const bool full = got == runs[0].iov_len + runs[1].iov_len;
  take_read(connection);
  return connection->state != State::closed && full;
}

}  // namespace nearcache::net
