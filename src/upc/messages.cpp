// SPDX-License-Identifier: BSD-3-Clause
#include <shmem.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "upc/collectives.h"
#include "upc/internal.h"

namespace nearcache::upc {
namespace {

// A slot has 256 bytes, one word of which is the tag. Puts of up to some hundred bytes take equally
// long.
constexpr size_t slot_words = 32;
constexpr size_t slot_bytes = 4 * (slot_words - 1);

// The layout of the mailboxes in Control::collectives: the senders' words come first.
constexpr size_t all_words = sizeof(Control::collectives) / sizeof(uint64_t);
constexpr size_t emptied_words = 64;
constexpr size_t all_slots = (all_words - emptied_words) / slot_words;
static_assert(2 * barrier_rounds < emptied_words && all_slots / (2 * barrier_rounds) >= 2);

unsigned index(Channel channel) { return 2 * channel.round + (channel.up ? 0 : 1); }

uint64_t emptied_offset(unsigned channel) {
  return NCUPC_CONTROL(collectives) + sizeof(uint64_t) * channel;
}

uint64_t slot_offset(unsigned channel, uint64_t number) {
  const size_t slot = channel * runtime.mailboxes.depth + number % runtime.mailboxes.depth;
  return NCUPC_CONTROL(collectives) + sizeof(uint64_t) * (emptied_words + slot * slot_words);
}

// Puts whole words. Earlier puts may arrive later.
void put_words(size_t thread, uint64_t offset, const uint64_t* words, size_t count) {
  if (char* near = ncupc_near[thread]) {
    auto* to = reinterpret_cast<uint64_t*>(near + offset);
    for (size_t i = count; i-- > 0;) __atomic_store_n(to + i, words[i], __ATOMIC_RELEASE);
    return;
  }
  shmem_put64(runtime.arena + offset, words, count, static_cast<int>(thread));
}

void send_slot(Channel channel, const Call& call, const void* data, size_t bytes) {
  const unsigned c = index(channel);
  const uint64_t number = ++runtime.mailboxes.sent[c];
  for (CollectiveWaiter waiter; number - own_word(emptied_offset(c)) > runtime.mailboxes.depth;)
    waiter.pause();
  uint64_t words[slot_words];
  words[0] = number << 32 | call.tag;
  size_t count = 1;
  for (size_t done = 0; done < bytes; done += 4) {
    uint32_t half = 0;
    std::memcpy(&half, static_cast<const char*>(data) + done, std::min<size_t>(4, bytes - done));
    words[count++] = number << 32 | half;
  }
  put_words(receiver(channel), slot_offset(c, number), words, count);
}

// Waits for a word and returns its data.
uint32_t take(uint64_t offset, uint64_t number) {
  uint64_t word = own_word(offset);
  for (CollectiveWaiter waiter; word >> 32 != (number & UINT32_MAX); word = own_word(offset))
    waiter.pause();
  return static_cast<uint32_t>(word);
}

void receive_slot(Channel channel, const Call& call, void* data, size_t bytes) {
  const unsigned c = index(channel);
  const uint64_t number = ++runtime.mailboxes.received[c];
  uint64_t offset = slot_offset(c, number);
  check_tag(call, take(offset, number), sender(channel));
  for (size_t done = 0; done < bytes; done += 4) {
    const uint32_t half = take(offset += sizeof(uint64_t), number);
    std::memcpy(static_cast<char*>(data) + done, &half, std::min<size_t>(4, bytes - done));
  }
  // Twice per turn of the ring, so that the sender need not wait for its last slot to be emptied.
  if (number % (runtime.mailboxes.depth / 2) == 0)
    put_words(sender(channel), emptied_offset(c), &number, 1);
}

size_t neighbour(unsigned round, bool above) {
  const size_t distance = size_t{1} << round;  // at most THREADS - 1
  return (my_thread() + (above ? distance : threads() - distance)) % threads();
}

}  // namespace

// A power of two; more than 16 slots would never be used.
void messages_start() {
  runtime.mailboxes.depth =
      std::min<size_t>(16, std::bit_floor(all_slots / std::max(1U, 2 * message_rounds())));
}

unsigned message_rounds() { return static_cast<unsigned>(std::bit_width(threads() - 1)); }

size_t receiver(Channel channel) { return neighbour(channel.round, channel.up); }

size_t sender(Channel channel) { return neighbour(channel.round, !channel.up); }

void send(Channel channel, const Call& call, const void* data, size_t bytes) {
  size_t done = 0;
  do {
    const size_t piece = std::min(slot_bytes, bytes - done);
    send_slot(channel, call, static_cast<const char*>(data) + done, piece);
    done += piece;
  } while (done < bytes);
}

void receive(Channel channel, const Call& call, void* data, size_t bytes) {
  size_t done = 0;
  do {
    const size_t piece = std::min(slot_bytes, bytes - done);
    receive_slot(channel, call, static_cast<char*>(data) + done, piece);
    done += piece;
  } while (done < bytes);
}

void send_and_receive(Channel channel, const Call& call, const void* out, size_t out_bytes,
                      void* in, size_t in_bytes) {
  const size_t burst = slot_bytes * std::max<size_t>(1, runtime.mailboxes.depth / 2);
  const size_t most = std::max(out_bytes, in_bytes);
  size_t done = 0;
  do {
    if (done == 0 || done < out_bytes)
      send(channel, call, static_cast<const char*>(out) + done, std::min(burst, out_bytes - done));
    if (done == 0 || done < in_bytes)
      receive(channel, call, static_cast<char*>(in) + done, std::min(burst, in_bytes - done));
    done += burst;
  } while (done < most);
}

}  // namespace nearcache::upc
