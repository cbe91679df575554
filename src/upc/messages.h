// SPDX-License-Identifier: BSD-3-Clause

// Small messages between threads whose distance is a power of two, by puts into mailboxes. The
// collectives are built on them.
//
// For each round k, thread t has two channels: up to thread t + 2^k, and down to t - 2^k (modulo
// THREADS). Binomial trees from any root and dissemination need no others, so a thread's mailboxes
// take O(log THREADS) memory. A channel is a ring of slots at the receiver, which tells the sender
// from time to time, in a word there, how many slots it has emptied. So the messages of a channel
// arrive in the order in which they were sent, and a sender waits for room only if it is several
// collectives ahead.
//
// A slot is filled by one put, without a fence or a separate flag: each of its 64-bit words carries
// 32 bits of data and the number of the message, and is taken once that number is there (over tcp
// 20 us a message; data, fence and flag would take 26). The first word carries, instead of data,
// the tag of the collective call, which the receiver compares with its own. Thus threads that call
// different collectives, or the same one with different arguments, are detected.
#pragma once

#include <cstddef>
#include <cstdint>

#include "upc/arena.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Call;

// A word of the mailboxes' area that no channel uses: the lock for atomic accesses to
// pointers-to-shared that take two words.
constexpr uint64_t pair_lock_offset = NCUPC_CONTROL(collectives) + 63 * sizeof(uint64_t);

struct Mailboxes {
  uint64_t sent[2 * barrier_rounds] = {};  // messages of each channel
  uint64_t received[2 * barrier_rounds] = {};
  size_t depth = 0;  // slots per ring
};

// Lays out the mailboxes. pre: the number of threads is known.
void messages_start();

struct Channel {
  unsigned round;
  bool up;
};

// The threads at the other ends of this thread's channels.
size_t receiver(Channel channel);  // gets what this thread sends
size_t sender(Channel channel);    // sends what this thread receives

// The number of rounds: the smallest k with 2^k >= THREADS.
unsigned message_rounds();

// Sends data, in several slots if it does not fit into one. Returns when `data` may be changed;
// waits if the ring is full.
void send(Channel channel, const Call& call, const void* data = nullptr, size_t bytes = 0);
// Waits for the message that the sender sends in the same step of the same call.
void receive(Channel channel, const Call& call, void* data = nullptr, size_t bytes = 0);

// Sends and receives at the same time, half a ring of slots at a time, so that threads that all do
// this around a circle do not deadlock waiting for room.
void send_and_receive(Channel channel, const Call& call, const void* out, size_t out_bytes,
                      void* in, size_t in_bytes);

}  // namespace nearcache::upc
#pragma GCC visibility pop
