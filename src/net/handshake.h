// SPDX-License-Identifier: BSD-3-Clause

// How two ranks begin a connection: each proves that it knows the secret of the job, by a proof
// over a nonce drawn by the other.
//
//     initiator -> acceptor   Hello      who I am, whom I want, a nonce
//     acceptor -> initiator   Challenge  my nonce, and my proof
//     initiator -> acceptor   Answer     my proof
//     acceptor -> initiator   Verdict    welcome, or: we have another connection
//
// Frames are sent only after the verdict, so none is lost with a connection that is turned away.
#pragma once

#include <cstdint>

#include "net/authentication.h"

namespace nearcache::net {

struct Hello {
  // Reads differently in the other byte order, and changes whenever the format of anything sent on
  // a connection does.
  static constexpr uint64_t our_format = 0x4e63526d61303205u;
  uint64_t format;
  int32_t from, to;
  uint64_t nonce;
};
struct Challenge {
  uint64_t nonce, proof;
};
struct Answer {
  uint64_t proof;
};
enum class Verdict : uint64_t { welcome = 0x77656c636f6d6501, turned_away = 0x6177617974757201 };

// Proofs of the two ends. They are computed over different words, so that neither can be obtained
// by asking for the other.
uint64_t acceptor_proof(const Secret& secret, const Hello& hello);
uint64_t initiator_proof(const Secret& secret, const Hello& hello, uint64_t challenge);

// Whether the acceptor takes a connection from `peer` while it has said hello on its own. Both ends
// decide alike, so exactly one of two crossing connections remains.
inline bool crossing_wins(int acceptor, int peer) { return peer < acceptor; }

}  // namespace nearcache::net
