// SPDX-License-Identifier: BSD-3-Clause

// The fabric over TCP, which needs nothing but the operating system.
//
// All descriptors are in one epoll set, which is the wait descriptor. It is level-triggered and
// includes a doorbell, so it stays readable until a poll has taken everything. A connection that
// has been the only one in use for a while is separate (Fabric::use_set).
//
// Where program and agent have different tables of descriptors (descriptor_tables.h), the program's
// is the one that counts: a connection has the number that it has there, and the agent gives it the
// same in its own table. (Linux tells the descriptors of an epoll set apart by number and file, so
// both sides need the same one.) A connection that the agent opens is, until the program adopts it,
// the agent's only, and in a set of the agent's own, which is part of the wait descriptor.
#pragma once

#include <vector>

#include "net/connection_fabric.h"
#include "net/socket_address.h"

namespace nearcache::net {

class SocketFabric final : public ConnectionFabric {
 public:
  // Listens. Returns null, and the reason in `wrong`, if that is impossible. know() must be called
  // before the first send or poll.
  static std::unique_ptr<SocketFabric> open(int rank, const std::string& interface,
                                            std::string* wrong);
  ~SocketFabric() override;

  const SocketAddress& address() const { return address_; }
  // Sets the job's secret, and the addresses of all its ranks.
  void know(const Secret& secret, std::vector<SocketAddress> addresses) {
    ConnectionFabric::know(secret, static_cast<int>(addresses.size()));
    addresses_ = std::move(addresses);
  }

  bool sends_unsure(int) const override { return true; }
  bool receives() const override { return receives_; }
  size_t most_data(int) const override { return size_t{1000} << 10; }
  int wait_descriptor() const override { return epoll_; }
  void ring() override;
  void use_set(int epoll) override;
  bool watch_separate(bool wanted) override;
  void watch_together() override;
  int separate_descriptor() const override {
    return separate_ != nullptr && reaches(separate_) ? separate_->socket : -1;
  }
  void woken(int descriptor) override;
  bool use_tables(DescriptorTables* tables, std::vector<int>* kept) override;
  void settle() override;

 private:
  struct Wire final : Connection {
    int socket = -1;
    int send_error = 0;  // errno of the send that has ended the connection
    bool wants_to_write = false;
    bool only_agents = false;
  };
  static Wire* wire(Connection* connection) { return static_cast<Wire*>(connection); }

  explicit SocketFabric(int rank) : ConnectionFabric(rank) {}
  std::string listen_at(const std::string& interface);

  Connection* connect(int to, std::string* wrong) override;
  size_t give(Connection* connection, Pieces pieces) override;
  void want_to_write(Connection* connection, bool wanted) override;
  void hang_up(Connection* connection) override;
  void look() override;

  bool has_two_tables() const { return tables_ != nullptr && tables_->parted(); }
  bool is_agents() const { return tables_ != nullptr && tables_->here_is_agents(); }
  bool reaches(const Wire* connection) const { return !connection->only_agents || is_agents(); }
  int set_of(const Wire* connection) const {
    return connection->only_agents ? agents_set_ : epoll_;
  }
  bool tell(int change, Wire* connection);
  void have_one_table();
  bool tell_agents_set(int change, bool wanted);
  void adopt();
  bool adopt(Wire* connection);
  void lose_unreachable();
  void mirror();
  void fetch_as(int number);
  void move_away(Wire* connection);
  void release(Wire* connection);
  void tell_events(Wire* connection);
  bool tell_set(int change);
  void separate(Wire* connection);
  void accept_all();
  void tell_of_waiting();
  void watch_listener(bool wanted);
  Wire* watch(int socket, bool connects);
  void look_at(int set);
  void handle(Connection* connection, uint32_t events);
  void finish_connecting(Connection* connection);
  void read(Connection* connection);
  bool read_more(Connection* connection);
  bool read_some(Connection* connection);
  bool read_expected(Connection* connection, Place place);
  bool read_body(Connection* connection);
  bool came(Connection* connection, ssize_t got);
  void take_read(Connection* connection);

  SocketAddress address_{};
  std::vector<SocketAddress> addresses_;
  int epoll_ = -1, listener_ = -1, doorbell_ = -1;
  int pause_ = -1;  // a timer: when to accept connections again
  int polls_ = 0;
  bool receives_ = false;
  size_t came_ = 0;           // bytes read from one connection in this poll
  int set_ = -1;              // the caller's epoll set
  Wire* separate_ = nullptr;  // registered there
  bool separate_watched_ = false;
  // which connection was in use when the set was last watched, and how often in a row it was
  const Connection* candidate_ = nullptr;
  int times_ = 0;
  bool watches_listener_ = true;
  bool told_of_waiting_ = false;  // a connection for which no descriptor is left

  DescriptorTables* tables_ = nullptr;
  int agents_set_ = -1;
  std::vector<Wire*> agents_;  // connections that are only the agent's
  // Numbers for the other side to settle: the program's that it has opened, adopted or closed; the
  // agent's of connections that it no longer has alone; those that the agent has closed.
  std::vector<int> changed_, given_up_, closed_by_agent_;
};

}  // namespace nearcache::net
