// SPDX-License-Identifier: BSD-3-Clause

// The address at which a rank listens, in the form in which it is sent to all others.
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace nearcache::net {

struct SocketAddress {
  uint8_t bytes[16];  // the first four for IPv4
  uint16_t port;      // in network byte order
  uint16_t family;    // AF_INET or AF_INET6

  std::string host() const;  // numeric
  std::string text() const;
};

// The address at which other ranks reach this host: that of `interface` or, if that is "", the
// first one that is up and not a loopback, else the loopback. `family` is 0 if there is none.
SocketAddress own_address(const std::string& interface);

socklen_t to_system(const SocketAddress& address, sockaddr_storage* out);
void set_port(int socket, SocketAddress* address);  // the one bound by the system

}  // namespace nearcache::net
