// How two ranks begin a connection: each shows that it knows the secret of the job, by a proof over
// what the other has drawn.
//
//     initiator -> acceptor   Hello      who I am, whom I want, a nonce
//     acceptor -> initiator   Challenge  my nonce, and my proof
//     initiator -> acceptor   Answer     my proof
//     acceptor -> initiator   Verdict    welcome, or: we have another connection
//
// Only after the verdict do frames go, so none is lost with a connection that is turned away.
#pragma once

#include <cstdint>

#include "net/authentication.h"

namespace nearcache::net {

struct Hello {
  // Reads otherwise where words have another order of bytes, and changes with the format of
  // anything on a connection.
  static constexpr uint64_t our_format = 0x4e63526d61303202u;
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

// Of the acceptor, and of the initiator: different words, so that neither can be had by asking for
// the other.
uint64_t acceptor_proof(const Secret& secret, const Hello& hello);
uint64_t initiator_proof(const Secret& secret, const Hello& hello, uint64_t challenge);

// Whether the acceptor takes a connection from `peer` while it attempts one itself: both decide
// alike, so that exactly one of two that cross remains.
inline bool crossing_wins(int acceptor, int peer) { return peer < acceptor; }

}  // namespace nearcache::net
