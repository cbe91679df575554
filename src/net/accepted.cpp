// SPDX-License-Identifier: BSD-3-Clause
#include "net/accepted.h"

#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace nearcache::net {
namespace {

// Only an accepted socket has both the address of the listening one and a peer.
bool is_accepted_at(std::span<const std::byte> address, int descriptor) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0 ||
      size != address.size() || std::memcmp(&name, address.data(), size) != 0)
    return false;
  size = sizeof name;
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&name), &size) == 0;
}

}  // namespace

int shut_down_accepted(std::span<const std::byte> address) {
  int count = 0;
  std::error_code gone;
  std::filesystem::directory_iterator entry("/proc/self/fd", gone);
  for (; !gone && entry != end(entry); entry.increment(gone)) {
    const int descriptor = std::stoi(entry->path().filename());
    if (!is_accepted_at(address, descriptor)) continue;
    shutdown(descriptor, SHUT_RDWR);
    ++count;
  }
  return count;
}

}  // namespace nearcache::net
