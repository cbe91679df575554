// SPDX-License-Identifier: BSD-3-Clause
#if __has_include(<rdma/fabric.h>)
#include "net/ofi_direct.h"

#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "net/authentication.h"

namespace nearcache::net {
namespace {

struct Registered final : DirectMemory::Exposed {
  Registered(fid_mr* registration, DirectMemory::Key key) : mr(registration) { key_ = key; }
  ~Registered() override { fi_close(&mr->fid); }
  fid_mr* mr;
};

}  // namespace

OfiDirect::~OfiDirect() {
  if (registration_ != nullptr) fi_close(&registration_->fid);
}

uint64_t OfiDirect::new_key() const {
  if ((mode_ & FI_MR_PROV_KEY) != 0) return 0;
  return key_size_ >= sizeof(uint64_t) ? random_word()
                                       : random_word() & ((uint64_t{1} << 8 * key_size_) - 1);
}

std::unique_ptr<DirectMemory::Exposed> OfiDirect::expose(std::byte* base, uint64_t size) {
  fid_mr* registration = nullptr;
  long error = 0;
  int tries = 0;
  do {
    error = fi_mr_reg(domain_, base, size, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, new_key(), 0,
                      &registration, nullptr);
  } while (error == -FI_ENOKEY && ++tries < 8);
  if (error != 0) return nullptr;
  const bool by_address = (mode_ & FI_MR_VIRT_ADDR) != 0;
  const DirectMemory::Key key{fi_mr_key(registration),
                              by_address ? reinterpret_cast<uint64_t>(base) : 0};
  return std::make_unique<Registered>(registration, key);
}

// Allocates and registers the buffers (2 MiB) on first use.
bool OfiDirect::prepare() {
  if (std::exchange(prepared_, true)) return registration_ != nullptr;
  constexpr size_t size = buffers * stride;
  memory_.reset(new std::byte[size]);
  if (fi_mr_reg(domain_, memory_.get(), size, FI_READ | FI_WRITE, 0, new_key(), 0, &registration_,
                nullptr) != 0)
    return registration_ = nullptr, false;
  for (size_t i = 0; i < buffers; ++i) free_.push_back(i);
  return true;
}

void OfiDirect::add(Queue* queue, DirectMemory::Key key, uint64_t offset, size_t size,
                    const std::byte* data, uint64_t token) {
  Queue::Move& move = queue->moves_.emplace_back();
  move.token = token;
  move.key = key.key;
  move.address = key.address + offset;
  move.size = size;
  move.write = data != nullptr;
  move.left = move.write && way_ == Way::read_behind ? 2 : 1;
  move.buffer = free_.back();
  free_.pop_back();
  if (data != nullptr) std::memcpy(buffer(move.buffer), data, size);
}

long OfiDirect::post(Queue* queue, fid_ep* endpoint, uint64_t context) {
  while (!queue->all_posted()) {
    Queue::Move& move = queue->moves_[queue->next_ - queue->first_];
    while (move.left > 0) {
      const long error =
          post_one(move, endpoint, reinterpret_cast<void*>(context | queue->next_ % most_of_peer));
      if (error != 0) return error;
      ++move.posted;
      ++move.open;
      --move.left;
    }
    ++queue->next_;
  }
  return 0;
}

long OfiDirect::post_one(const Queue::Move& move, fid_ep* endpoint, void* context) {
  void* description = fi_mr_desc(registration_);
  std::byte* const data = buffer(move.buffer);
  if (!move.write) {
    return fi_read(endpoint, data, move.size, description, FI_ADDR_UNSPEC, move.address, move.key,
                   context);
  }
  if (move.posted == 1) {
    return fi_read(endpoint, data + buffer_size, 1, description, FI_ADDR_UNSPEC,
                   move.address + move.size - 1, move.key, context);
  }
  const iovec here{data, move.size};
  const fi_rma_iov there{move.address, move.size, move.key};
  fi_msg_rma message{};
  message.msg_iov = &here;
  message.desc = &description;
  message.iov_count = 1;
  message.addr = FI_ADDR_UNSPEC;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = context;
  return fi_writemsg(
      endpoint, &message,
      FI_COMPLETION | (way_ == Way::delivery_complete ? FI_DELIVERY_COMPLETE : uint64_t{0}));
}

bool OfiDirect::count(Queue* queue, uint64_t number) {
  const uint64_t which = (number - queue->first_) % most_of_peer;
  if (which >= queue->moves_.size() || queue->moves_[which].open == 0) return false;
  --queue->moves_[which].open;
  return true;
}

void OfiDirect::give_up(Queue* queue) {
  for (const Queue::Move& move : queue->moves_) free_.push_back(move.buffer);
  queue->moves_.clear();
}

}  // namespace nearcache::net
#endif
