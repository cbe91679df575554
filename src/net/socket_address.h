// Where a rank listens, in the form in which it is sent to all others.
#pragma once

#include <cstdint>
#include <string>

#include <sys/socket.h>

namespace nearcache::net {

struct SocketAddress {
  uint8_t bytes[16];  // the first four of IPv4
  uint16_t port;      // in network order
  uint16_t family;    // AF_INET or AF_INET6

  std::string host() const;  // in numbers
  std::string text() const;
};

// Where other ranks reach this host: `interface`'s address, or the first that is up and no
// loopback, or else the loopback. `family` 0: there is none of that name.
SocketAddress own_address(const std::string& interface);

socklen_t to_system(const SocketAddress& address, sockaddr_storage* out);
void set_port(int socket, SocketAddress* address);  // that the system has given to a bound socket

}  // namespace nearcache::net
