#include "mpi/entry/get.h"

namespace nearcache::mpi {

int fetch_rest(const Window& window, const GetCall& call, const Window::Decision& decision) {
  const RemoteGet& get = decision.get;
  const uint64_t head = decision.cached.head;
  auto* to = static_cast<std::byte*>(call.origin) + get.elements.first_offset() + head;
  const auto bytes = static_cast<int>(get.bytes - decision.cached.from_cache());
  const auto from = static_cast<MPI_Aint>((get.key.displacement + static_cast<int64_t>(head)) / window.identity().unit);
  return next.Get(to, bytes, MPI_BYTE, call.target, from, bytes, MPI_BYTE, window.handle());
}

int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision) {
  const CachedWindow::Line& line = decision.cached.line;
  const auto bytes = static_cast<int>(line.bytes);
  return next.Get(line.buffer, bytes, MPI_BYTE, call.target, static_cast<MPI_Aint>(line.from / window.identity().unit), bytes, MPI_BYTE, window.handle());
}

int fetch_line(const Window& window, const GetCall& call, const Window::Decision& decision, MPI_Request* request) {
  const CachedWindow::Line& line = decision.cached.line;
  const auto bytes = static_cast<int>(line.bytes);
  return next.Rget(line.buffer, bytes, MPI_BYTE, call.target, static_cast<MPI_Aint>(line.from / window.identity().unit), bytes, MPI_BYTE, window.handle(),
                   request);
}

}  // namespace nearcache::mpi
