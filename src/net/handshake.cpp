// SPDX-License-Identifier: BSD-3-Clause
#include "net/handshake.h"

namespace nearcache::net {
namespace {

uint64_t ranks_of(const Hello& hello) {
  return static_cast<uint64_t>(static_cast<uint32_t>(hello.from)) << 32 |
         static_cast<uint32_t>(hello.to);
}

}  // namespace

uint64_t acceptor_proof(const Secret& secret, const Hello& hello) {
  const uint64_t words[] = {1, ranks_of(hello), hello.nonce};
  return proof(secret, words);
}

uint64_t initiator_proof(const Secret& secret, const Hello& hello, uint64_t challenge) {
  const uint64_t words[] = {2, ranks_of(hello), hello.nonce, challenge};
  return proof(secret, words);
}

}  // namespace nearcache::net
