// SPDX-License-Identifier: BSD-3-Clause

// A TCP connection between ranks 0 and 1 and nothing else: no protocol, no lock, no other
// descriptor to look at. What a request and its reply take on it is the least that any library can
// reach over TCP.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace bench {

class PlainTcp {
 public:
  // Collective over ranks 0 and 1 of MPI_COMM_WORLD, on the loopback interface.
  explicit PlainTcp(int rank);
  ~PlainTcp();
  PlainTcp(const PlainTcp&) = delete;
  PlainTcp& operator=(const PlainTcp&) = delete;

  // Sends `sent` bytes, then waits for `received` bytes without sleeping.
  void ask(std::size_t sent, std::size_t received);
  // Waits for `received` bytes without sleeping, then sends `sent` bytes.
  void answer(std::size_t received, std::size_t sent);

  // From now on, a thread that sleeps until something arrives answers each `received` bytes by
  // `sent` bytes, until the other rank calls hang_up().
  void answer_in_a_thread(std::size_t received, std::size_t sent);
  void hang_up();
  void wait_for_thread();

 private:
  void send(std::size_t bytes);
  // Returns false if the other rank has hung up.
  bool receive(std::size_t bytes, bool sleeps);

  int socket_;
  std::vector<char> buffer_;
  std::thread thread_;
};

}  // namespace bench
