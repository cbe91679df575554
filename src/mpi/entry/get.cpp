// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/entry/get.h"

namespace nearcache::mpi {

int fetch_rest(const Window& window, const GetCall& call, const Window::Decision& decision) {
  const RemoteGet& get = decision.get;
  const uint64_t head = decision.cached.head;
  auto* to = static_cast<std::byte*>(call.origin) + get.elements.first_offset() + head;
  const auto bytes = static_cast<int>(get.bytes - decision.cached.from_cache());
  const auto from = static_cast<MPI_Aint>((get.key.displacement + static_cast<int64_t>(head)) /
                                          window.identity().unit);
  note_receives(call);
  return next.Get(to, bytes, MPI_BYTE, call.target, from, bytes, MPI_BYTE, window.handle());
}

static int fetch_line(const Window& window, int target, const CachedWindow::Line& line) {
  const auto bytes = static_cast<int>(line.bytes);
  return next.Get(line.buffer, bytes, MPI_BYTE, target,
                  static_cast<MPI_Aint>(line.from / window.identity().unit), bytes, MPI_BYTE,
                  window.handle());
}

int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision) {
  return fetch_line(window, call.target, decision.cached.line);
}

void read_ahead(Window& window, const GetCall& call, const Window::Decision& decision) {
  for (uint32_t place = 1; place <= decision.cached.ahead.places; ++place) {
    WindowLock lock(window.mutex());
    const CachedWindow::Decision ahead = window.look_ahead(decision, place);
    lock.unlock();
    if (ahead.line.bytes == 0) continue;
    const int rc = fetch_line(window, call.target, ahead.line);
    const WindowLock again(window.mutex());
    if (rc == MPI_SUCCESS) {
      window.issued_ahead(decision, ahead);
    } else {
      window.ahead_refused(ahead);
    }
  }
}

int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision,
               MPI_Request* request) {
  const CachedWindow::Line& line = decision.cached.line;
  const auto bytes = static_cast<int>(line.bytes);
  return next.Rget(line.buffer, bytes, MPI_BYTE, call.target,
                   static_cast<MPI_Aint>(line.from / window.identity().unit), bytes, MPI_BYTE,
                   window.handle(), request);
}

}  // namespace nearcache::mpi
