// SPDX-License-Identifier: BSD-3-Clause

// Connections that a library in this process has accepted and keeps to itself.
#pragma once

#include <cstddef>
#include <span>

namespace nearcache::net {

// Shuts down all connections that this process has accepted at a local address (a sockaddr), so
// that both ends see the end of them; whoever owns a socket still has to close it. Returns their
// number.
int shut_down_accepted(std::span<const std::byte> address);

}  // namespace nearcache::net
