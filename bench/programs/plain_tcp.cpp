// SPDX-License-Identifier: BSD-3-Clause
#include "plain_tcp.h"

#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bench {
namespace {

constexpr std::size_t largest = 64 << 10;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

int checked(int result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

// Returns the connected socket: rank 0 listens.
int connected(int rank) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  int result = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  int port = 0;
  if (rank == 0) {
    const int listening = result;
    checked(bind(listening, any, length), "bind");
    checked(listen(listening, 1), "listen");
    checked(getsockname(listening, any, &length), "getsockname");
    port = address.sin_port;
    MPI_Send(&port, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    result = checked(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC), "accept");
    close(listening);
  } else {
    MPI_Recv(&port, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    address.sin_port = static_cast<in_port_t>(port);
    checked(connect(result, any, length), "connect");
  }
  const int one = 1;
  checked(setsockopt(result, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one), "setsockopt");
  return result;
}

}  // namespace

PlainTcp::PlainTcp(int rank) : socket_(connected(rank)), buffer_(largest) {}

PlainTcp::~PlainTcp() { close(socket_); }

void PlainTcp::ask(std::size_t sent, std::size_t received) {
  send(sent);
  receive(received, false);
}

void PlainTcp::answer(std::size_t received, std::size_t sent) {
  receive(received, false);
  send(sent);
}

void PlainTcp::answer_in_a_thread(std::size_t received, std::size_t sent) {
  thread_ = std::thread([this, received, sent] {
    while (receive(received, true)) send(sent);
  });
}

void PlainTcp::hang_up() { shutdown(socket_, SHUT_WR); }

void PlainTcp::wait_for_thread() { thread_.join(); }

void PlainTcp::send(std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = ::send(socket_, buffer_.data(), std::min(bytes, largest), MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    bytes -= static_cast<std::size_t>(sent);
  }
}

bool PlainTcp::receive(std::size_t bytes, bool sleeps) {
  for (int turn = 0; bytes > 0; ++turn) {
    if (sleeps) {
      pollfd arrival{socket_, POLLIN, 0};
      poll(&arrival, 1, -1);
    }
    const ssize_t got = recv(socket_, buffer_.data(), std::min(bytes, largest), MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0 && errno != EAGAIN) fail("recv");
    if (got > 0) bytes -= static_cast<std::size_t>(got);
    // the other rank may be on the same core
    if (got < 0 && turn % 64 == 63) sched_yield();
  }
  return true;
}

}  // namespace bench
