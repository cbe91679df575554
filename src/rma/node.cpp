// SPDX-License-Identifier: BSD-3-Clause
#include "rma/node.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/kernel_page.h"
#include "base/region.h"
#include "base/round.h"

namespace nearcache::rma {
namespace {

// One creator's ids are consecutive, and so are their slots: few pages are touched, and those of
// closed windows are reused.
uint64_t first_slot(uint64_t id) { return (id >> 32) * 0x9e3779b9u + id % 256; }

constexpr uint64_t free_in_row = UINT64_MAX;

bool is_window(uint64_t word) { return word != 0 && word != free_in_row; }

}  // namespace

Node::Node(std::shared_ptr<net::Arena> arena, std::vector<int> ranks, int rank)
    : arena_(std::move(arena)),
      ranks_(std::move(ranks)),
      own_(static_cast<size_t>(place_of(rank))),
      memory_(0) {
  const uint64_t head = head_bytes(), whole = slice(1) - slice(0);
  if (whole > head) memory_ = net::PageAllocator((whole - head) / page);
}

// If the system refuses, the memory stays accessible.
void Node::close_off() const {
  for (size_t place = 0; place < size(); ++place) {
    const uint64_t first = round_up(slice(place) + head_bytes(), kernel_page()),
                   end = round_down(slice(place + 1), kernel_page());
    if (first < end) mprotect(arena_->at(first), end - first, PROT_NONE);
  }
}

bool Node::open_up(uint64_t offset, uint64_t bytes) const {
  if (bytes == 0) return true;
  const uint64_t first = round_down(offset, kernel_page()),
                 end = round_up(offset + bytes, kernel_page());
  return Region::make_accessible(arena_->at(first), end - first);
}

int Node::place_of(int rank) const {
  const auto found = std::ranges::lower_bound(ranks_, rank);
  return found == ranks_.end() || *found != rank ? -1 : static_cast<int>(found - ranks_.begin());
}

// A slice begins with the table of its windows and the inbox.
uint64_t Node::slice(size_t place) const {
  const uint64_t each = round_down((arena_->name().size - net::Arena::reserved) / size(), page);
  return net::Arena::reserved + each * place;
}

uint64_t Node::table_bytes() const { return round_up(slots * Commons::bytes(size()), page); }

uint64_t Node::head_bytes() const {
  return table_bytes() + round_up(net::Inbox::bytes(size()), page);
}

net::Inbox* Node::inbox(size_t place) const {
  return reinterpret_cast<net::Inbox*>(arena_->at(slice(place) + table_bytes()));
}

Commons* Node::slot(size_t place, uint64_t number) const {
  const uint64_t at = slice(place) + number % slots * Commons::bytes(size());
  return reinterpret_cast<Commons*>(arena_->at(at));
}

std::byte* Node::take(uint64_t bytes) {
  const uint64_t pages = std::max<uint64_t>(round_up(bytes, page) / page, 1);
  if (bytes > arena_->name().size) return nullptr;
  const std::optional<uint64_t> first = memory_.take(pages);
  if (!first) return nullptr;
  const uint64_t offset = slice(own_) + head_bytes() + *first * page;
  if (!open_up(offset, pages * page)) return memory_.give_back(*first), nullptr;
  std::byte* const memory = arena_->at(offset);
  madvise(memory, pages * page, MADV_DODUMP);  // a core contains this rank's windows
  return memory;
}

void Node::give_back(std::byte* memory) {
  const uint64_t first = (arena_->offset(memory) - slice(own_) - head_bytes()) / page;
  const uint64_t pages = memory_.give_back(first);
  madvise(memory, pages * page, MADV_DONTDUMP);
  madvise(memory, pages * page, MADV_REMOVE);  // frees its pages, in all processes
}

Commons* Node::publish(uint64_t id, const Memory& memory) {
  uint64_t number = first_slot(id);
  while (is_window(slot(own_, number)->window.load(std::memory_order_relaxed))) ++number;
  Commons* commons = new (slot(own_, number)) Commons{};
  for (size_t place = 0; place < ranks_.size(); ++place)
    new (commons->of_ranks() + place) Commons::OfRank{};
  commons->size = memory.size();
  commons->unit = memory.unit();
  if (memory.is_dynamic()) {
    commons->where = Commons::Where::nowhere;
  } else if (memory.size() == 0) {
    commons->where = Commons::Where::arena;
    commons->place = net::Arena::reserved;
  } else if (contains(memory.base()) && holds(arena_->offset(memory.base()), memory.size())) {
    commons->where = Commons::Where::arena;
    commons->place = arena_->offset(memory.base());
  } else {
    commons->where = Commons::Where::process;
    commons->place = reinterpret_cast<uint64_t>(memory.base());
  }
  commons->window.store(id, std::memory_order_release);
  numbers_.emplace(commons, number);
  return commons;
}

// A freed slot is still part of its row, where find() passes over it, unless nothing follows.
void Node::withdraw(Commons* commons) {
  const auto found = numbers_.find(commons);
  uint64_t number = found->second;
  numbers_.erase(found);
  commons->window.store(free_in_row, std::memory_order_release);
  if (slot(own_, number + 1)->window.load(std::memory_order_relaxed) != 0) return;
  for (;; --number) {
    std::atomic<uint64_t>& window = slot(own_, number)->window;
    if (window.load(std::memory_order_relaxed) != free_in_row) return;
    window.store(0, std::memory_order_release);
  }
}

Commons* Node::find(size_t place, uint64_t id) const {
  for (uint64_t number = 0; number < slots; ++number) {
    Commons* commons = slot(place, first_slot(id) + number);
    const uint64_t here = commons->window.load(std::memory_order_acquire);
    if (here == id) return commons;
    if (here == 0) return nullptr;
  }
  return nullptr;
}

bool Node::holds(uint64_t offset, uint64_t size) const {
  const uint64_t all = arena_->name().size;
  return offset >= net::Arena::reserved && offset <= all && size <= all - offset;
}

}  // namespace nearcache::rma
