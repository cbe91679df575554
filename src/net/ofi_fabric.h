// SPDX-License-Identifier: BSD-3-Clause

// The fabric over libfabric (OpenFabrics Interfaces): connected endpoints (FI_EP_MSG), for messages
// and for memory that the provider can read and write without the target's help (ofi_direct.h).
//
// The bytes of a connection are sent in messages of at most 16 KiB, and a message is sent only if
// the other end has posted a receive buffer for it: each message reports how many buffers have been
// reposted, and the sender never has more messages in flight than that allows. A rank that has
// nothing to send reports reposted buffers in an empty message, for which there are two spare
// buffers:
//
// A connection has 8 buffers in each direction. At most 6 messages with data are in flight whose
// buffers the other end has not returned. An empty message is sent when 3 buffers are owed, so at
// most 2 of these are in flight: together no more than there are buffers.
//
// Libfabric makes progress only when called, and may take messages from the system in any call. Its
// descriptors are therefore meaningful only after fi_trywait (see arm()), which is called again
// after every send.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/connection_fabric.h"

namespace nearcache::net {

// The address at which a rank listens, and its libfabric provider.
struct OfiAddress {
  char provider[24];
  uint64_t size;  // bytes; 0: none
  std::byte bytes[64];
};

class OfiFabric : public ConnectionFabric {
 public:
  // Which providers' FI_RMA is used. any_reads_behind: a write is always followed by a read to
  // learn of its end (ofi_direct.h), even if the provider offers more.
  enum class Direct { none, hardware, any, any_reads_behind };

  // Listens through this provider ("": the first hardware provider with RDMA that is up), at this
  // network interface if it is not "". Returns null, and the reason in `wrong`, if that is
  // impossible. know() must be called before the first send or poll.
  static std::unique_ptr<OfiFabric> open(int rank, int ranks, const std::string& provider,
                                         const std::string& interface, std::string* wrong,
                                         Direct direct = Direct::hardware);
  // Whether the machine may have such hardware, so that loading libfabric is worthwhile.
  static bool may_have_hardware();

  const OfiAddress& address() const { return address_; }
  void know(const Secret& secret, std::vector<OfiAddress> addresses) {
    ConnectionFabric::know(secret, static_cast<int>(addresses.size()));
    addresses_ = std::move(addresses);
  }

 protected:
  using ConnectionFabric::ConnectionFabric;

  OfiAddress address_{};
  std::vector<OfiAddress> addresses_;
};

}  // namespace nearcache::net
