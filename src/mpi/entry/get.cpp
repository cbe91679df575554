#include "mpi/entry/get.h"

namespace nearcache::mpi {

int fetch_tail(const Window& window, const GetCall& call, const Window::Decision& decision) {
  const Access& access = decision.access;
  auto* to = static_cast<std::byte*>(call.origin) + access.origin.first_offset() + decision.head;
  const auto bytes = static_cast<int>(access.bytes - decision.head);
  const auto from = static_cast<MPI_Aint>((access.key.displacement + static_cast<int64_t>(decision.head)) / window.identity().unit);
  return next.Get(to, bytes, MPI_BYTE, call.target, from, bytes, MPI_BYTE, window.handle());
}

}  // namespace nearcache::mpi
