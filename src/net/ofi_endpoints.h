// SPDX-License-Identifier: BSD-3-Clause

// The fabric over libfabric, which ofi_fabric.h describes: its endpoints, one for each connection.
// How they begin and end is in ofi_endpoints.cpp, what goes through them in ofi_messages.cpp.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/direct_memory.h"
#include "net/libfabric.h"
#include "net/ofi_direct.h"
#include "net/ofi_fabric.h"

namespace nearcache::net {

class OfiEndpoints final : public OfiFabric, private DirectMemory {
 public:
  OfiEndpoints(int rank, const Libfabric& library) : OfiFabric(rank), library_(library) {}
  ~OfiEndpoints() override;
  std::string listen(int ranks, const std::string& provider, const std::string& interface,
                     Direct direct);

  DirectMemory* direct_memory() override { return direct_ != nullptr ? this : nullptr; }
  bool arm() override;
  int wait_descriptor() const override { return epoll_; }
  void ring() override;

 private:
  static constexpr int buffers = 8;  // in each direction
  static constexpr int window = 6;   // messages with data in flight
  static constexpr size_t buffer_size = 16 << 10;

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

}  // namespace nearcache::net
