// The fabric over libfabric (OpenFabrics Interfaces): connected endpoints for messages, FI_EP_MSG,
// and for what the provider can read and write without the target (ofi_direct.h).
//
// The bytes of a connection are sent in messages of at most 16 KiB, whose receive buffers are
// posted before they may be sent: each message says how many buffers have been posted again, and no
// more messages than that are in flight. A rank that has nothing to send reports this by an empty
// message; for these there are two further buffers:
//
// A connection has 8 buffers each way. At most 6 messages with data are in flight that the other
// end has not given back. An empty message is sent when 3 are owed, so at most 2 of them are in
// flight: together no more than there are buffers.
//
// Libfabric makes progress only when called, and may take messages from the system in any call: its
// descriptors are meaningful only after fi_trywait (`arm`), which is called again after anything is
// sent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/connection_fabric.h"

namespace nearcache::net {

// Where a rank listens, and by which provider of libfabric.
struct OfiAddress {
  char provider[24];
  uint64_t size;  // bytes; 0: none
  std::byte bytes[64];
};

class OfiFabric : public ConnectionFabric {
 public:
  // Whose FI_RMA is used. any_reads_behind: the end of a write is known by a read (ofi_direct.h),
  // even where the provider promises more.
  enum class Direct { none, hardware, any, any_reads_behind };

  // Listens by this provider; "" is the first that is hardware with RDMA and up. At this network
  // interface, if it is not "". Null and the reason where that is impossible. Nothing may be sent,
  // and no poll made, before `know`.
  static std::unique_ptr<OfiFabric> open(int rank, int ranks, const std::string& provider,
                                         const std::string& interface, std::string* wrong,
                                         Direct direct = Direct::hardware);
  // Whether a look for such hardware is worth loading libfabric.
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
