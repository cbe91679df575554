// SPDX-License-Identifier: BSD-3-Clause

// Authentication of connections: each end proves that it knows the secret of the job, without
// revealing it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nearcache::net {

using Secret = std::array<uint64_t, 2>;  // drawn by one rank and distributed by the host MPI

// Returns a word from the system's random number generator, for secrets and nonces.
uint64_t random_word();

// SipHash-2-4 (Aumasson, Bernstein, 2012) of these words, keyed by the secret: nobody can evaluate
// it without knowing the secret.
uint64_t proof(const Secret& secret, std::span<const uint64_t> words);

}  // namespace nearcache::net
