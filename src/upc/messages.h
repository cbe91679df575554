// Small messages between threads whose distance is a power of two, by puts into mailboxes: what the
// collectives are made of.
//
// Thread t has two channels of each round k: up to thread t + 2^k, and down to t - 2^k (modulo
// THREADS). That is all that binomial trees from any root and dissemination need, so the mailboxes
// of a thread take O(log THREADS) memory. A channel is a ring of slots at the receiver; the
// receiver says from time to time how many it has emptied, in a word at the sender. So messages of
// one channel arrive in the order they were sent, and a sender that runs ahead by some collectives
// waits for room only then.
//
// A slot is one put, without a fence or a flag of its own: each of its 64-bit words carries 32 bits
// of data and the number of the message, and is taken when that number is there (over tcp: 20 us a
// message; data, fence and flag take 26). The first word carries the tag of the collective call
// instead of data, which the receiver compares with that of its own: threads that call different
// collectives, or the same with different arguments, find out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/arena.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Call;

// A word among the mailboxes that no channel uses: the lock of atomic accesses to
// pointers-to-shared of two words.
constexpr uint64_t pair_lock_offset = NCUPC_CONTROL(collectives) + 63 * sizeof(uint64_t);

struct Mailboxes {
  uint64_t sent[2 * barrier_rounds] = {};  // messages of each channel
  uint64_t received[2 * barrier_rounds] = {};
  size_t depth = 0;  // slots of a ring
};

// Divides the mailboxes. pre: the number of threads is known.
void messages_start();

struct Channel {
  unsigned round;
  bool up;
};

// The other ends of this thread's channels.
size_t receiver(Channel channel);  // of what this thread sends
size_t sender(Channel channel);    // of what this thread receives

// How many rounds there are: the smallest k with 2^k >= THREADS.
unsigned message_rounds();

// Data that does not fit one slot goes in several. Sending returns when `data` may be changed; it
// waits if the ring is full.
void send(Channel channel, const Call& call, const void* data = nullptr, size_t bytes = 0);
// Waits for the message that the other end sends in the same step of the same call.
void receive(Channel channel, const Call& call, void* data = nullptr, size_t bytes = 0);

// Both at once, half a ring of slots at a time, so that threads which all do this, round a circle,
// do not wait for each other's room.
void send_and_receive(Channel channel, const Call& call, const void* out, size_t out_bytes,
                      void* in, size_t in_bytes);

}  // namespace nearcache::upc
#pragma GCC visibility pop
