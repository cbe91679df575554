// SPDX-License-Identifier: BSD-3-Clause
#include "net/socket_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

namespace nearcache::net {
namespace {

bool take_address(const sockaddr* from, SocketAddress* to) {
  *to = {};
  if (from->sa_family == AF_INET) {
    std::memcpy(to->bytes, &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, 4);
  } else if (from->sa_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr;
    // meaningless without the number of an interface
    if (IN6_IS_ADDR_LINKLOCAL(&address)) return false;
    std::memcpy(to->bytes, &address, 16);
  } else {
    return false;
  }
  to->family = from->sa_family;
  return true;
}

// Lower is better: IPv4 before IPv6, loopback last.
int preference(const ifaddrs& each) {
  return 2 * ((each.ifa_flags & IFF_LOOPBACK) != 0) + (each.ifa_addr->sa_family == AF_INET6);
}

}  // namespace

SocketAddress own_address(const std::string& interface) {
  SocketAddress best{}, address{};
  int best_preference = 4;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return best;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0 ||
        (!interface.empty() && interface != each->ifa_name))
      continue;
    if (!take_address(each->ifa_addr, &address) || preference(*each) >= best_preference) continue;
    best = address;
    best_preference = preference(*each);
  }
  freeifaddrs(all);
  return best;
}

socklen_t to_system(const SocketAddress& address, sockaddr_storage* out) {
  *out = {};
  if (address.family == AF_INET) {
    auto* in = reinterpret_cast<sockaddr_in*>(out);
    in->sin_family = AF_INET;
    in->sin_port = address.port;
    std::memcpy(&in->sin_addr, address.bytes, 4);
    return sizeof *in;
  }
  auto* in = reinterpret_cast<sockaddr_in6*>(out);
  in->sin6_family = AF_INET6;
  in->sin6_port = address.port;
  std::memcpy(&in->sin6_addr, address.bytes, 16);
  return sizeof *in;
}

void set_port(int socket, SocketAddress* address) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return;
  address->port = address->family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound)->sin_port
                                             : reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port;
}

std::string SocketAddress::host() const {
  char out[INET6_ADDRSTRLEN] = "?";
  inet_ntop(family, bytes, out, sizeof out);
  return out;
}

std::string SocketAddress::text() const { return host() + " port " + std::to_string(ntohs(port)); }

}  // namespace nearcache::net
