// SPDX-License-Identifier: BSD-3-Clause
#include "net/ofi_fabric.h"

#include <filesystem>

namespace nearcache::net {

bool OfiFabric::may_have_hardware() {
  std::error_code none;
  return !std::filesystem::is_empty("/sys/class/infiniband", none) && !none;
}

}  // namespace nearcache::net

#if !__has_include(<rdma/fabric.h>)

namespace nearcache::net {

std::unique_ptr<OfiFabric> OfiFabric::open(int, int, const std::string&, const std::string&,
                                           std::string* wrong, Direct) {
  *wrong = "it was built without libfabric's headers";
  return nullptr;
}

}  // namespace nearcache::net

#else

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "net/accepted.h"
#include "net/libfabric.h"
#include "net/ofi_direct.h"
#include "net/ofi_provider.h"

namespace nearcache::net {
namespace {

constexpr int buffers = 8;  // in each direction
constexpr int window = 6;   // messages with data in flight
constexpr int enough_owed = 3;
constexpr size_t buffer_size = 16 << 10;
constexpr size_t head_size = sizeof(uint64_t);  // the number of buffers that were reposted
constexpr int polls_between_events = 8;  // of completions, until connections are polled as well

class Endpoints final : public OfiFabric, private DirectMemory {
 public:
  Endpoints(int rank, const Libfabric& library) : OfiFabric(rank), library_(library) {}
  ~Endpoints() override;
  std::string listen(int ranks, const std::string& provider, const std::string& interface,
                     Direct direct);

  DirectMemory* direct_memory() override { return direct_ != nullptr ? this : nullptr; }
  bool arm() override;
  int wait_descriptor() const override { return epoll_; }
  void ring() override;

 private:
  struct Wire final : Connection {
    ~Wire() override { unregister(); }
    void unregister() {
      if (registration != nullptr) fi_close(&std::exchange(registration, nullptr)->fid);
    }
    std::byte* receive_buffer(int i) { return memory.get() + static_cast<size_t>(i) * buffer_size; }
    std::byte* send_buffer(int i) { return receive_buffer(buffers + i); }

    uint64_t id = 0;
    fid_ep* endpoint = nullptr;
    fid_mr* registration = nullptr;
    std::unique_ptr<std::byte[]> memory;
    size_t arrived[buffers] = {};         // 1 + bytes, of messages to be processed; else 0
    int next = 0;                         // receive buffer to be processed
    int credits = window;                 // messages with data that the other end has room for
    int owed = 0;                         // reposted buffers that the other end does not know of
    uint32_t free = (1u << buffers) - 1;  // send buffers, one bit each
    OfiDirect::Queue moves;
    bool broken = false;
  };
  static Wire* wire(Connection* connection) { return static_cast<Wire*>(connection); }
  // The context of the operation on a buffer, or of a move. It contains the connection's id,
  // because the operation may end after the connection is gone.
  static constexpr unsigned of_send = 1u << 7, of_move = 1u << 6;
  static void* context_of(const Wire& wire, bool send, int buffer) {
    return reinterpret_cast<void*>(wire.id << 8 | (send ? of_send : 0u) |
                                   static_cast<unsigned>(buffer));
  }

  std::string failed(const char* what, long error) const;
  Wire* make(fi_info* info, std::string* wrong);
  void accept(fi_info* info);
  void refuse(fi_info* info);
  void turn_away();
  Connection* connect(int to, std::string* wrong) override;
  void hang_up(Connection* connection) override;

  size_t give(Connection* connection, Pieces pieces) override;
  void want_to_write(Connection*, bool) override {}
  bool send_message(Wire* wire, Pieces pieces);
  void go_on(Wire* wire);
  void move(int peer, Key key, uint64_t offset, size_t size, const std::byte* data, uint64_t token);
  void post_moves(Wire* wire);
  std::unique_ptr<Exposed> expose(std::byte* base, uint64_t size) override {
    return direct_->expose(base, size);
  }
  bool pins() const override { return direct_->pins(); }
  bool reaches(int peer) const override {
    return open_connection(peer) != nullptr && direct_->has_buffers();
  }
  bool has_room(int peer) const override {
    Connection* const connection = open_connection(peer);
    return connection != nullptr && direct_->has_room() && wire(connection)->moves.has_room();
  }
  void begin_read(int from, Key key, uint64_t offset, size_t size, uint64_t token) override {
    move(from, key, offset, size, nullptr, token);
  }
  void begin_write(int to, Key key, uint64_t offset, std::span<const std::byte> data,
                   uint64_t token) override {
    move(to, key, offset, data.size(), data.data(), token);
  }
  bool post(Wire* wire, int buffer);
  void break_off(Wire* wire, const char* what, long error);

  void look() override;
  void read_completions();
  void completed(const fi_cq_msg_entry& entry);
  void take_message(Wire* wire, int buffer, size_t size);
  void take_failure();
  // What the event queue tells of an endpoint, or of a request for a connection.
  struct Event {
    bool failure;
    uint32_t what;
    fid* of;
    fi_info* asked;  // of FI_CONNREQ: for us to free
    int error;       // of a failure
  };
  std::optional<Event> next_event();
  void read_events();
  void take_event(const Event& event);
  Wire* find(uint64_t id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
  }

  const Libfabric& library_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_eq* events_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_pep* listener_ = nullptr;
  std::unique_ptr<OfiDirect> direct_;
  int epoll_ = -1, doorbell_ = -1;
  std::atomic<bool> rung_{false};
  bool armed_ = false;
  bool again_ = false;  // libfabric had no room: the next poll tries again
  int polls_ = 0;
  uint64_t last_id_ = 0;
  std::unordered_map<uint64_t, Wire*> by_id_;
  std::unordered_map<fid_t, Wire*> by_endpoint_;
  std::vector<std::pair<uint64_t, std::string>> broken_;  // reported as lost by the next poll
};

// Setup

std::string Endpoints::failed(const char* what, long error) const {
  return std::string(what) + ": " + library_.strerror(static_cast<int>(std::labs(error)));
}

std::string Endpoints::listen(int ranks, const std::string& provider, const std::string& interface,
                              Direct direct) {
  std::string wrong;
  const OfiProvider found = find_provider(library_, provider, interface, direct, buffers, &wrong);
  info_ = found.info;
  if (info_ == nullptr) return wrong;
  int error = library_.fabric(info_->fabric_attr, &fabric_, nullptr);
  if (error != 0) return failed("fi_fabric", error);
  fi_eq_attr events{};
  events.wait_obj = FI_WAIT_FD;
  error = fi_eq_open(fabric_, &events, &events_, nullptr);
  if (error != 0) return failed("fi_eq_open", error);
  error = fi_domain(fabric_, info_, &domain_, nullptr);
  if (error != 0) return failed("fi_domain", error);
  fi_cq_attr completions{};
  completions.format = FI_CQ_FORMAT_MSG;
  completions.wait_obj = FI_WAIT_FD;
  // all that can be in flight; with more than 16,384 peers memory runs out first
  completions.size = (2 * buffers + (found.way ? OfiDirect::most_posted : 0)) *
                     static_cast<size_t>(std::clamp(ranks, 2, 16384));
  error = fi_cq_open(domain_, &completions, &completions_, nullptr);
  if (error != 0) return failed("fi_cq_open", error);
  error = fi_passive_ep(fabric_, info_, &listener_, nullptr);
  if (error == 0) error = fi_pep_bind(listener_, &events_->fid, 0);
  if (error == 0) error = fi_listen(listener_);
  size_t size = sizeof address_.bytes;
  if (error == 0) error = fi_getname(&listener_->fid, address_.bytes, &size);
  if (error != 0) return failed("cannot listen", error);
  address_.size = size;
  std::strncpy(address_.provider, info_->fabric_attr->prov_name, sizeof address_.provider - 1);

  if (found.way) direct_ = std::make_unique<OfiDirect>(*info_, domain_, *found.way);

  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  doorbell_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  int of_events = -1, of_completions = -1;
  if (fi_control(&events_->fid, FI_GETWAIT, &of_events) != 0 ||
      fi_control(&completions_->fid, FI_GETWAIT, &of_completions) != 0)
    return "its provider " + std::string(address_.provider) + " has nothing to sleep on";
  for (const int descriptor : {doorbell_, of_events, of_completions}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    // one descriptor may serve both
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0 && errno != EEXIST)
      return std::string("cannot watch its descriptors: ") + std::strerror(errno);
  }
  return {};
}

Endpoints::~Endpoints() {
  for (const auto& entry : by_endpoint_) fi_close(entry.first);
  if (listener_ != nullptr) turn_away();
  for (const auto& entry : connections()) wire(entry.first)->unregister();
  direct_.reset();
  const auto close_one = [](auto* object) {
    if (object != nullptr) fi_close(&object->fid);
  };
  close_one(listener_);
  close_one(completions_);
  close_one(domain_);
  close_one(events_);
  close_one(fabric_);
  if (info_ != nullptr) library_.freeinfo(info_);
  for (const int descriptor : {doorbell_, epoll_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

// The flag is set last: a poll that does not see it leaves the doorbell for the next one.
void Endpoints::ring() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(doorbell_, &one, sizeof one);
  rung_.store(true, std::memory_order_release);
}

bool Endpoints::arm() {
  if (again_ || !broken_.empty()) return false;
  fid* both[] = {&events_->fid, &completions_->fid};
  return armed_ = fi_trywait(fabric_, both, 2) != -FI_EAGAIN;
}

// Connections

Endpoints::Wire* Endpoints::make(fi_info* info, std::string* wrong) {
  auto owned = std::make_unique<Wire>();
  constexpr size_t size = 2 * buffers * buffer_size;
  owned->id = ++last_id_;
  owned->memory.reset(new std::byte[size]);
  long error = fi_mr_reg(domain_, owned->memory.get(), size, FI_SEND | FI_RECV, 0, owned->id, 0,
                         &owned->registration, nullptr);
  if (error == 0) error = fi_endpoint(domain_, info, &owned->endpoint, nullptr);
  if (error == 0) error = fi_ep_bind(owned->endpoint, &events_->fid, 0);
  if (error == 0) error = fi_ep_bind(owned->endpoint, &completions_->fid, FI_TRANSMIT | FI_RECV);
  if (error == 0) error = fi_enable(owned->endpoint);
  bool posted = error == 0;
  for (int i = 0; i < buffers && posted; ++i) posted = post(owned.get(), i);
  if (!posted) {
    *wrong = error != 0 ? failed("cannot make an endpoint", error) : "cannot post buffers";
    if (owned->endpoint != nullptr) fi_close(&owned->endpoint->fid);
    return nullptr;
  }
  Wire* const made = owned.get();
  by_id_[made->id] = made;
  by_endpoint_[&made->endpoint->fid] = made;
  add(std::move(owned));
  return made;
}

void Endpoints::accept(fi_info* info) {
  std::string wrong;
  Wire* const wire = make(info, &wrong);
  if (wire == nullptr) return refuse(info);
  accepted(wire);
  const int error = fi_accept(wire->endpoint, nullptr, 0);
  if (error != 0) lose(wire, failed("fi_accept", error));
  library_.freeinfo(info);
}

void Endpoints::refuse(fi_info* info) {
  fi_reject(listener_, info->handle, nullptr, 0);
  library_.freeinfo(info);
}

ConnectionFabric::Connection* Endpoints::connect(int to, std::string* wrong) {
  const OfiAddress& address = addresses_[static_cast<size_t>(to)];
  fi_info* const info = library_.dupinfo(info_);
  if (info == nullptr) return *wrong = "no memory for a connection", nullptr;
  Wire* const wire = make(info, wrong);
  library_.freeinfo(info);
  if (wire == nullptr) return nullptr;
  const int error = fi_connect(wire->endpoint, address.bytes, nullptr, 0);
  if (error != 0) break_off(wire, "cannot connect", error);
  return wire;
}

void Endpoints::hang_up(Connection* connection) {
  Wire* const wire = Endpoints::wire(connection);
  by_id_.erase(wire->id);
  by_endpoint_.erase(&wire->endpoint->fid);
  fi_shutdown(wire->endpoint, 0);
  fi_close(&std::exchange(wire->endpoint, nullptr)->fid);
  if (direct_ != nullptr) direct_->give_up(&wire->moves);
}

// For the end of the fabric. What libfabric has accepted stays open unless its request for a
// connection is taken, so that the other end would wait for ever: version 1.17 of its provider
// `tcp` forgets such sockets when the listener is closed. As all endpoints are closed, there are no
// other connections at this address.
void Endpoints::turn_away() {
  const auto at = std::span(address_.bytes).first(address_.size);
  for (int round = 0; round < 100; ++round) {
    while (const std::optional<Event> event = next_event()) {
      if (event->what == FI_CONNREQ) refuse(event->asked);
    }
    if (shut_down_accepted(at) == 0) return;
  }
}

void Endpoints::break_off(Wire* wire, const char* what, long error) {
  if (std::exchange(wire->broken, true)) return;
  broken_.emplace_back(wire->id, failed(what, error));
  if (armed_) ring();
}

// Sending

size_t Endpoints::give(Connection* connection, Pieces pieces) {
  Wire* const wire = Endpoints::wire(connection);
  std::array<std::span<const std::byte>, most_pieces> left;
  std::ranges::copy(pieces, left.begin());
  size_t all = 0, gone = 0;
  for (const auto piece : pieces) all += piece.size();
  while (gone < all && wire->credits > 0 && wire->free != 0) {
    if (wire->broken) return all;
    std::array<std::span<const std::byte>, most_pieces> now;
    size_t room = buffer_size - head_size;
    for (size_t i = 0; i < most_pieces; ++i) {
      now[i] = left[i].first(std::min(left[i].size(), room));
      room -= now[i].size();
    }
    if (!send_message(wire, now)) break;
    for (size_t i = 0; i < most_pieces; ++i) left[i] = left[i].subspan(now[i].size());
    gone += buffer_size - head_size - room;
    --wire->credits;
  }
  return wire->broken ? all : gone;
}

// Returns false if libfabric has no room now, or the connection is broken.
bool Endpoints::send_message(Wire* wire, Pieces pieces) {
  const int buffer = std::countr_zero(wire->free);
  std::byte* const to = wire->send_buffer(buffer);
  const uint64_t owed = static_cast<uint64_t>(wire->owed);
  std::memcpy(to, &owed, head_size);
  size_t size = head_size;
  for (const auto piece : pieces) {
    std::ranges::copy(piece, to + size);
    size += piece.size();
  }
  const ssize_t error = fi_send(wire->endpoint, to, size, fi_mr_desc(wire->registration),
                                FI_ADDR_UNSPEC, context_of(*wire, true, buffer));
  if (error == -FI_EAGAIN) {
    again_ = true;
  } else if (error != 0) {
    break_off(wire, "its connection broke", error);
  } else {
    wire->owed = 0;
    wire->free &= ~(1u << buffer);
  }
  // the send may have taken messages from the system
  if (armed_ && !arm()) ring();
  return error == 0;
}

// Sends what is queued, reports reposted buffers and posts moves, as far as possible.
void Endpoints::go_on(Wire* wire) {
  if (!queue_of(wire).empty()) write(wire);
  if (wire->owed >= enough_owed && wire->free != 0 && !wire->broken) send_message(wire, {});
  if (direct_ != nullptr) post_moves(wire);
}

void Endpoints::move(int peer, Key key, uint64_t offset, size_t size, const std::byte* data,
                     uint64_t token) {
  Wire* const wire = Endpoints::wire(open_connection(peer));
  direct_->add(&wire->moves, key, offset, size, data, token);
  post_moves(wire);
}

void Endpoints::post_moves(Wire* wire) {
  if (wire->broken || wire->moves.all_posted()) return;
  const long error = direct_->post(&wire->moves, wire->endpoint, wire->id << 8 | of_move);
  if (error == -FI_EAGAIN) {
    again_ = true;
  } else if (error != 0) {
    break_off(wire, "its connection broke", error);
  }
  if (armed_ && !arm()) ring();
}

// Receiving

bool Endpoints::post(Wire* wire, int buffer) {
  const ssize_t error =
      fi_recv(wire->endpoint, wire->receive_buffer(buffer), buffer_size,
              fi_mr_desc(wire->registration), FI_ADDR_UNSPEC, context_of(*wire, false, buffer));
  if (error != 0) break_off(wire, "cannot post a buffer", error);
  return error == 0;
}

void Endpoints::look() {
  const bool all = std::exchange(armed_, false) || ++polls_ % polls_between_events == 0;
  if (rung_.load(std::memory_order_relaxed) && rung_.exchange(false)) {
    uint64_t rings;
    [[maybe_unused]] const ssize_t got = ::read(doorbell_, &rings, sizeof rings);
  }
  read_completions();
  if (all) read_events();
  if (std::exchange(again_, false)) {
    for (const auto& entry : connections()) {
      if (entry.first->state != State::closed) go_on(wire(entry.first));
    }
  }
  for (const auto& [id, why] : std::exchange(broken_, {})) {
    if (Wire* const wire = find(id); wire != nullptr) lose(wire, why);
  }
}

void Endpoints::read_completions() {
  for (;;) {
    fi_cq_msg_entry entries[16];
    const ssize_t count = fi_cq_read(completions_, entries, std::size(entries));
    if (count == -FI_EAVAIL) {
      take_failure();
      continue;
    }
    if (count <= 0) return;
    for (ssize_t i = 0; i < count; ++i) completed(entries[i]);
  }
}

void Endpoints::completed(const fi_cq_msg_entry& entry) {
  const auto context = reinterpret_cast<uintptr_t>(entry.op_context);
  Wire* const wire = find(context >> 8);
  if (wire == nullptr) return;
  if ((context & of_move) != 0) {
    const auto done = [&](uint64_t token, std::span<const std::byte> data) {
      transferred(wire, token, data);
    };
    direct_->completed(&wire->moves, context % OfiDirect::most_of_peer, done);
    if (wire->state != State::closed) post_moves(wire);
    return;
  }
  const int buffer = static_cast<int>(context & (buffers - 1));
  if ((context & of_send) != 0) {
    wire->free |= 1u << buffer;
    go_on(wire);
  } else {
    wire->arrived[buffer] = entry.len + 1;
    // In the order in which the buffers were posted, which is that of the messages.
    while (wire->state != State::closed && wire->arrived[wire->next] != 0) {
      const size_t size = std::exchange(wire->arrived[wire->next], 0) - 1;
      const int first = std::exchange(wire->next, (wire->next + 1) % buffers);
      take_message(wire, first, size);
    }
  }
}

void Endpoints::take_message(Wire* wire, int buffer, size_t size) {
  const std::byte* const from = wire->receive_buffer(buffer);
  uint64_t returned = window + 1;
  if (size >= head_size && size <= buffer_size) std::memcpy(&returned, from, head_size);
  if (returned > static_cast<uint64_t>(window - wire->credits))
    return lose(wire, "it broke the protocol");
  wire->credits += static_cast<int>(returned);
  arrived(wire, std::span(from, size).subspan(head_size));
  if (wire->state == State::closed || !post(wire, buffer)) return;
  wire->owed += size > head_size;
  go_on(wire);
}

void Endpoints::take_failure() {
  fi_cq_err_entry failure{};
  if (fi_cq_readerr(completions_, &failure, 0) < 0) return;
  Wire* const wire = find(reinterpret_cast<uintptr_t>(failure.op_context) >> 8);
  if (wire != nullptr) lose(wire, failed("its connection broke", failure.err));
}

std::optional<Endpoints::Event> Endpoints::next_event() {
  uint32_t what = 0;
  alignas(fi_eq_cm_entry) std::byte room[sizeof(fi_eq_cm_entry) + 512];
  const ssize_t size = fi_eq_read(events_, &what, room, sizeof room, 0);
  if (size == -FI_EAVAIL) {
    fi_eq_err_entry failure{};
    if (fi_eq_readerr(events_, &failure, 0) < 0) return {};
    return Event{true, 0, failure.fid, nullptr, failure.err};
  }
  if (size < 0) return {};
  const auto& entry = *reinterpret_cast<const fi_eq_cm_entry*>(room);
  return Event{false, what, entry.fid, entry.info, 0};
}

void Endpoints::read_events() {
  while (const std::optional<Event> event = next_event()) take_event(*event);
}

void Endpoints::take_event(const Event& event) {
  if (event.what == FI_CONNREQ) return accept(event.asked);
  // What arrived before the end is processed first.
  if (event.what == FI_SHUTDOWN) read_completions();
  const auto found = by_endpoint_.find(event.of);
  if (found == by_endpoint_.end()) return;
  Wire* const wire = found->second;
  if (event.failure) lose(wire, failed("cannot connect, or the connection broke", event.error));
  if (event.what == FI_CONNECTED && wire->state == State::connecting) connected(wire);
  if (event.what == FI_SHUTDOWN) lose(wire, "it closed the connection");
}

}  // namespace

std::unique_ptr<OfiFabric> OfiFabric::open(int rank, int ranks, const std::string& provider,
                                           const std::string& interface, std::string* wrong,
                                           Direct direct) {
  const Libfabric* const library = libfabric(wrong);
  if (library == nullptr) return nullptr;
  auto fabric = std::make_unique<Endpoints>(rank, *library);
  *wrong = fabric->listen(ranks, provider, interface, direct);
  return wrong->empty() ? std::move(fabric) : nullptr;
}

}  // namespace nearcache::net

#endif
