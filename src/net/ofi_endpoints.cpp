// SPDX-License-Identifier: BSD-3-Clause

// How endpoints begin and end: libfabric's objects, connections, and the events that tell of them.
#if __has_include(<rdma/fabric.h>)
#include "net/ofi_endpoints.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "net/accepted.h"
#include "net/ofi_provider.h"

namespace nearcache::net {

std::string OfiEndpoints::failed(const char* what, long error) const {
  return std::string(what) + ": " + library_.strerror(static_cast<int>(std::labs(error)));
}

std::string OfiEndpoints::listen(int ranks, const std::string& provider,
                                 const std::string& interface, Direct direct) {
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

OfiEndpoints::~OfiEndpoints() {
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
void OfiEndpoints::ring() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(doorbell_, &one, sizeof one);
  rung_.store(true, std::memory_order_release);
}

bool OfiEndpoints::arm() {
  if (again_ || !broken_.empty()) return false;
  fid* both[] = {&events_->fid, &completions_->fid};
  return armed_ = fi_trywait(fabric_, both, 2) != -FI_EAGAIN;
}

OfiEndpoints::Wire* OfiEndpoints::make(fi_info* info, std::string* wrong) {
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

void OfiEndpoints::accept(fi_info* info) {
  std::string wrong;
  Wire* const wire = make(info, &wrong);
  if (wire == nullptr) return refuse(info);
  accepted(wire);
  const int error = fi_accept(wire->endpoint, nullptr, 0);
  if (error != 0) lose(wire, failed("fi_accept", error));
  library_.freeinfo(info);
}

void OfiEndpoints::refuse(fi_info* info) {
  fi_reject(listener_, info->handle, nullptr, 0);
  library_.freeinfo(info);
}

ConnectionFabric::Connection* OfiEndpoints::connect(int to, std::string* wrong) {
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

void OfiEndpoints::hang_up(Connection* connection) {
  Wire* const wire = OfiEndpoints::wire(connection);
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
void OfiEndpoints::turn_away() {
  const auto at = std::span(address_.bytes).first(address_.size);
  for (int round = 0; round < 100; ++round) {
    while (const std::optional<Event> event = next_event()) {
      if (event->what == FI_CONNREQ) refuse(event->asked);
    }
    if (shut_down_accepted(at) == 0) return;
  }
}

void OfiEndpoints::break_off(Wire* wire, const char* what, long error) {
  if (std::exchange(wire->broken, true)) return;
  broken_.emplace_back(wire->id, failed(what, error));
  if (armed_) ring();
}

std::optional<OfiEndpoints::Event> OfiEndpoints::next_event() {
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

void OfiEndpoints::read_events() {
  while (const std::optional<Event> event = next_event()) take_event(*event);
}

void OfiEndpoints::take_event(const Event& event) {
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

}  // namespace nearcache::net

#endif
