// SPDX-License-Identifier: BSD-3-Clause
#include "net/authentication.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>

namespace nearcache::net {
namespace {

struct SipState {
  uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1, v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0, v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1, v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2, v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

uint64_t random_word() {
  uint64_t word = 0;
  while (getrandom(&word, sizeof word, 0) != sizeof word && errno == EINTR) {
  }
  return word;
}

uint64_t proof(const Secret& secret, std::span<const uint64_t> words) {
  SipState state{secret[0] ^ 0x736f6d6570736575u, secret[1] ^ 0x646f72616e646f6du,
                 secret[0] ^ 0x6c7967656e657261u, secret[1] ^ 0x7465646279746573u};
  for (const uint64_t word : words) state.take(word);
  // the length in bytes, as in SipHash's last block
  state.take(static_cast<uint64_t>(words.size() * 8) << 56);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace nearcache::net
