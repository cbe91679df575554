// Who may talk to us: proofs that the other end of a connection knows the secret of the job,
// without revealing it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nearcache::net {

using Secret = std::array<uint64_t, 2>;  // drawn by one rank, and given to all by the host MPI

// From the system's generator, for secrets and nonces.
uint64_t random_word();

// SipHash-2-4 (Aumasson, Bernstein, 2012) of these words: a function of the secret that nobody can
// evaluate without it.
uint64_t proof(const Secret& secret, std::span<const uint64_t> words);

}  // namespace nearcache::net
